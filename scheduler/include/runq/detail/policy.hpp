// SPDX-License-Identifier: MIT
// policy: the atomics policy of the scheduler's own structures: std_atomics, with a lock made for a few dozen
// instructions.
#pragma once

#include <atomic>

#include "runq/atomics.hpp"

namespace runq::detail {

/// A lock whose free path is one read-modify-write and one store, half the cost of a std::mutex. A thread that finds it
/// taken waits for a moment and then gives its CPU to others, so it is only for sections in which nobody sleeps.
class short_lock {
 public:
  void lock() noexcept {
    // acquire: pairs with unlock().
    if (taken_.exchange(true, std::memory_order::acquire)) lock_taken();
  }
  [[nodiscard]] bool try_lock() noexcept { return !taken_.exchange(true, std::memory_order::acquire); }
  void unlock() noexcept {
    // release: pairs with lock().
    taken_.store(false, std::memory_order::release);
  }

 private:
  void lock_taken() noexcept;
  std::atomic<bool> taken_{false};
};

struct policy : std_atomics {
  using mutex = short_lock;
};

}  // namespace runq::detail
