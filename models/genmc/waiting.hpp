// SPDX-License-Identifier: MIT
// Waiting for GenMC: a loop that waits is marked as such, so that GenMC blocks the thread instead of going around, and
// reports (--check-liveness) when it would block for ever.
#pragma once

#include <cstdint>

#include "atomics.hpp"

namespace runq::model {

template <class Condition>
[[gnu::always_inline]] inline void await(Condition&& condition, const char* = "", int = 0) {
  __VERIFIER_loop_begin();
  for (;;) {
    __VERIFIER_spin_start();
    const bool done = condition();
    __VERIFIER_spin_end(done);
    if (done) return;
  }
}

inline void assume(bool ok, const char* = "", int = 0) { __VERIFIER_assume(ok); }

/// Retries go around for real, as by default in the exact engine.
class retry_loop {
 public:
  void iteration(const char* = "", int = 0) {}
};

class parker {
 public:
  void park(const char* = "", int = 0) {
    await([this] { return token_.load(std::memory_order::relaxed) != 0; });
    token_.exchange(0, std::memory_order::acquire);
  }
  [[nodiscard]] bool take(const char* = "", int = 0) { return token_.exchange(0, std::memory_order::acquire) != 0; }
  [[nodiscard]] bool has_token(const char* = "", int = 0) const { return token_.load(std::memory_order::relaxed) != 0; }
  void unpark(const char* = "", int = 0) { token_.store(1, std::memory_order::release); }

 private:
  atomic<std::uint32_t> token_{0};
};

class condition_variable {
 public:
  void wait(mutex& m, const char* = "", int = 0) {
    const std::uint32_t before = notifications_.load(std::memory_order::relaxed);
    m.unlock();
    await([&] { return notifications_.load(std::memory_order::relaxed) != before; });
    m.lock();
  }
  void notify_all(const char* = "", int = 0) { notifications_.fetch_add(1, std::memory_order::relaxed); }

 private:
  atomic<std::uint32_t> notifications_{0};
};

}  // namespace runq::model
