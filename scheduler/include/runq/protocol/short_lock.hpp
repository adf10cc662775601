// SPDX-License-Identifier: MIT
// short_lock: a lock for critical sections of a few dozen instructions in which no thread sleeps.
//
// Models: models/cases/scheduler/short_lock/.
#pragma once

#include <atomic>

#include "runq/atomics.hpp"

namespace runq {

/// A lock whose free path is one read-modify-write and one store, half the cost of a std::mutex. Not fair. `Waiting` is
/// how a thread waits for it: `Waiting::until(condition)` calls condition() again and again, and returns once it is
/// true.
template <class Waiting, class Atomics = std_atomics>
class basic_short_lock {
 public:
  constexpr basic_short_lock() noexcept : taken_(false) {}
  basic_short_lock(const basic_short_lock&) = delete;
  basic_short_lock& operator=(const basic_short_lock&) = delete;

  void lock() noexcept {
    // [short_lock.lock] acquire: pairs with [short_lock.unlock]; weaker: what the last section wrote is not seen.
    if (taken_.exchange(true, std::memory_order::acquire)) lock_taken();
  }

  /// Takes the lock if it is free, and returns whether it did. Wait-free.
  [[nodiscard]] bool try_lock() noexcept {
    // [short_lock.try] acquire: pairs with [short_lock.unlock]; weaker: what the last section wrote is not seen.
    return !taken_.exchange(true, std::memory_order::acquire);
  }

  /// Takes the lock, unless another thread holds it and `condition()` becomes true meanwhile. Returns whether this
  /// thread has the lock. Not lock-free.
  template <class Condition>
  [[nodiscard]] bool lock_unless(Condition&& condition) noexcept {
    // [short_lock.unless] acquire: pairs with [short_lock.unlock]; weaker: what the last section wrote is not seen.
    while (taken_.exchange(true, std::memory_order::acquire)) {
      bool gave_up = false;
      Waiting::until([&] {
        // [short_lock.unless.look] relaxed: a guess; [short_lock.unless] decides.
        if (!taken_.load(std::memory_order::relaxed)) return true;
        gave_up = condition();
        return gave_up;
      });
      if (gave_up) return false;
    }
    return true;
  }

  /// A guess at whether a thread holds the lock, for one that can do something else meanwhile. Wait-free.
  [[nodiscard]] bool looks_taken() const noexcept {
    // [short_lock.looks] relaxed: a guess, which decides nothing that a lock has to decide.
    return taken_.load(std::memory_order::relaxed);
  }

  /// Only the thread that holds the lock. Wait-free.
  void unlock() noexcept {
    // [short_lock.unlock] release: pairs with [short_lock.lock], [short_lock.try], [short_lock.unless] and
    // [short_lock.again]; weaker: the next section does not see what this one wrote.
    taken_.store(false, std::memory_order::release);
  }

 private:
  // The waiting thread only reads until the lock looks free: each attempt to take it would take the cache line from the
  // thread that holds it.
  [[gnu::noinline]] void lock_taken() noexcept {
    do {
      // [short_lock.look] relaxed: a guess; [short_lock.again] decides.
      Waiting::until([this] { return !taken_.load(std::memory_order::relaxed); });
      // [short_lock.again] acquire: pairs with [short_lock.unlock]; weaker: what the last section wrote is not seen.
    } while (taken_.exchange(true, std::memory_order::acquire));
  }

  typename Atomics::template atomic<bool> taken_;
};

/// Calls lock_unless() of a mutex that has it, such as a short_lock. Any other mutex is locked whatever the condition.
/// Not lock-free.
template <class Mutex, class Condition>
[[nodiscard]] bool lock_unless(Mutex& mutex, Condition&& condition) {
  if constexpr (requires { mutex.lock_unless(condition); }) {
    return mutex.lock_unless(condition);
  } else {
    mutex.lock();
    return true;
  }
}

}  // namespace runq
