// SPDX-License-Identifier: MIT
// futex(2), as parker (runq/protocol/parker.hpp) asks for it: one word, on which at most one thread sleeps.
#pragma once

#include <cstdint>
#include <mutex>

#include "atomics.hpp"
#include "waiting.hpp"

namespace runq::model {

/// What the clock says: a deadline has passed from the moment on when some thread of the scenario says so.
class deadline_clock {
 public:
  void pass() { passed_.store(1, std::memory_order::relaxed); }
  [[nodiscard]] bool passed() const { return passed_.load(std::memory_order::relaxed) != 0; }

 private:
  atomic<int> passed_{0};
};

/// As in the kernel, one lock covers a sleeping thread's look at the word and a waker's search for a sleeper. A wake-up
/// alone says nothing: the woken thread must read in the word what its waker has done. A sleep for 0 ns ends at once;
/// any other one ends when `clock` says so, or never if there is no clock.
class futex {
 public:
  explicit futex(const deadline_clock* clock = nullptr) : clock_(clock) {}

  template <class T>
  void wait(atomic<T>& word, T value) {
    if (!enqueue(word, value)) return;
    await([this] { return woken_.load(std::memory_order::relaxed) != 0; });
    woken_.store(0, std::memory_order::relaxed);
  }

  [[nodiscard]] static bool deadline(std::int64_t ns) { return ns != 0; }  // whether the deadline is still to come

  template <class T>
  [[nodiscard]] bool wait_until(atomic<T>& word, T value, bool to_come) {
    if (!to_come || passed()) return false;
    if (!enqueue(word, value)) return true;
    await([this] { return woken_.load(std::memory_order::relaxed) != 0 || passed(); });
    const std::lock_guard lock(bucket_);
    asleep_.set(false);
    woken_.store(0, std::memory_order::relaxed);
    return true;
  }

  template <class T>
  void wake(atomic<T>&) {
    const std::lock_guard lock(bucket_);
    if (!asleep_.get()) return;
    asleep_.set(false);
    woken_.store(1, std::memory_order::relaxed);
  }

 private:
  template <class T>
  [[nodiscard]] bool enqueue(atomic<T>& word, T value) {
    const std::lock_guard lock(bucket_);
    if (word.load(std::memory_order::relaxed) != value) return false;
    asleep_.set(true);
    return true;
  }

  [[nodiscard]] bool passed() const { return clock_ != nullptr && clock_->passed(); }

  const deadline_clock* clock_;
  mutex bucket_;
  cell<bool> asleep_{false};  // under bucket_
  atomic<int> woken_{0};
};

}  // namespace runq::model
