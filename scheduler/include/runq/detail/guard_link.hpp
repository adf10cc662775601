// SPDX-License-Identifier: MIT
// How a mutex knows the guard that has it.
#pragma once

#include <atomic>

namespace runq::detail {

/// The guard that has a mutex, if there is one. The holder of the mutex writes it, and the mutex's destructor reads it.
template <class Guard>
class guard_link {
 public:
  void hold(Guard& by) noexcept {
    // [guard_link.hold] release, unmodelled: pairs with [guard_link.look]; weaker: ~mutex() writes to a guard that is
    // still being constructed.
    guard_.store(&by, std::memory_order::release);
  }
  void let_go() noexcept {
    // [guard_link.let_go] relaxed, unmodelled: the unlock that follows orders it before the next holder's guard.
    guard_.store(nullptr, std::memory_order::relaxed);
  }
  [[nodiscard]] Guard* look() const noexcept {
    // [guard_link.look] acquire, unmodelled: pairs with [guard_link.hold].
    return guard_.load(std::memory_order::acquire);
  }

 private:
  std::atomic<Guard*> guard_{nullptr};
};

}  // namespace runq::detail
