// SPDX-License-Identifier: MIT
// Waiting, as a scenario says it: a loop that waits is written so that an engine need not run it for ever.
#pragma once

#include <cstdint>

#include "atomics.hpp"

namespace runq::model {

/// What an engine may do better than spin. An engine that does not derive from this spins with pause().
class waiting_engine {
 public:
  virtual ~waiting_engine() = default;
  /// An evaluation of an awaited condition begins. It may read atomics and fail, but must have no other effect.
  virtual void await_begin() = 0;
  /// The condition was false: the thread waits until another thread changes what it has read. If this returns, the
  /// condition is to be evaluated again.
  virtual void await_failed(site where) = 0;
  /// Executions in which the thread gets here are of no interest.
  virtual void discard(site where) = 0;
  /// Whether a retry_loop blocks when it comes around.
  [[nodiscard]] virtual bool retries_block() const noexcept = 0;
};

/// The current engine's, or nullptr. The cost of the cast does not show in a search.
[[nodiscard]] inline waiting_engine* current_waiting_engine() noexcept {
  return dynamic_cast<waiting_engine*>(&current_engine());
}

/// Waits until `condition()` holds. A thread that waits for ever, having seen the newest values, is a deadlock: that is
/// how a lost wake-up shows.
template <class Condition>
void await(Condition&& condition, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  waiting_engine* const waiting = current_waiting_engine();
  for (;;) {
    if (waiting != nullptr) waiting->await_begin();
    if (condition()) return;
    if (waiting != nullptr) waiting->await_failed({file, line});
    atomics::pause(file, line);
  }
}

/// Restricts the model to executions in which `ok` holds; the others are abandoned and are no deadlocks.
inline void assume(bool ok, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (ok) return;
  if (waiting_engine* const waiting = current_waiting_engine()) waiting->discard({file, line});
  for (;;) atomics::pause(file, line);
}

/// Marks a loop whose retries have no side effect; call iteration() at its head. See exact_options::retries_block.
class retry_loop {
 public:
  void iteration(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    if (again_) {
      waiting_engine* const waiting = current_waiting_engine();
      if (waiting != nullptr && waiting->retries_block()) waiting->discard({file, line});
    }
    again_ = true;
  }

 private:
  bool again_ = false;
};

/// A thread's token for sleeping: unpark() makes the present or the next park() return. Untimed.
class parker {
 public:
  void park(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    await([this] { return token_.load(std::memory_order::relaxed) != 0; }, file, line);
    token_.exchange(0, std::memory_order::acquire, file, line);
  }
  [[nodiscard]] bool take(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return token_.exchange(0, std::memory_order::acquire, file, line) != 0;
  }
  [[nodiscard]] bool has_token(const char* file = __builtin_FILE(), int line = __builtin_LINE()) const {
    return token_.load(std::memory_order::relaxed, file, line) != 0;
  }
  void unpark(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    token_.store(1, std::memory_order::release, file, line);
  }

 private:
  atomic<std::uint32_t> token_{0};
};

/// A condition variable without spurious wake-ups: a wait ends only after a notification that came after its beginning.
/// Wakes all waiters; those for whom it was not meant wait again, as every correct use must do anyway.
class condition_variable {
 public:
  void wait(mutex& m, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    const std::uint32_t before = notifications_.load(std::memory_order::relaxed, file, line);
    m.unlock(file, line);
    await([&] { return notifications_.load(std::memory_order::relaxed) != before; }, file, line);
    m.lock(file, line);
  }
  void notify_all(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    notifications_.fetch_add(1, std::memory_order::relaxed, file, line);
  }

 private:
  atomic<std::uint32_t> notifications_{0};
};

}  // namespace runq::model
