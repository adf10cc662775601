// SPDX-License-Identifier: MIT
// suspension: the handshake between a task that is going to sleep and the threads that may wake it. Exactly one wakes
// it.
//
// Source: Go's gopark/goready and selectDone (runtime/proc.go, runtime/select.go). Models:
// models/cases/scheduler/suspension/.
#pragma once

#include <atomic>
#include <cstdint>

#include "runq/atomics.hpp"

namespace runq {

/// What became of an attempt to wake a task.
enum class claim_result : unsigned char {
  lost,      ///< another thread wakes the task; the caller must not touch it
  early,     ///< the task has not gone to sleep and will not: the caller must not make it runnable
  must_wake  ///< the task sleeps; the caller makes it runnable
};

/// For a task that several threads may wake: for example through one of many channels (select), or by a stop request.
/// The first thread that claims the task wins, and leaves a number, its arm, which says how the task was woken. Used
/// once; lives in the task's frame.
template <class Atomics = std_atomics>
class suspension {
 public:
  suspension() noexcept : state_(falling_asleep) {}
  suspension(const suspension&) = delete;
  suspension& operator=(const suspension&) = delete;

  /// Tells that the task is suspended and may be made runnable. Returns false if a thread has claimed the task already:
  /// then the task goes on at once. After true the task may run at any moment on another thread, so the caller must not
  /// touch it any more. Called by the task itself. Wait-free.
  [[nodiscard]] bool commit() noexcept {
    std::uint32_t expected = falling_asleep;
    // [suspension.commit] release: pairs with [suspension.claim]: the thread that makes the task runnable sees it
    // suspended. Relaxed on failure: the task calls arm() next.
    return state_.compare_exchange_strong(expected, asleep, std::memory_order::release, std::memory_order::relaxed);
  }

  /// Claims the task for `arm`. Any thread. Wait-free: it needs a second try only if the task falls asleep meanwhile.
  [[nodiscard]] claim_result claim(std::uint32_t arm) noexcept {
    // [suspension.peek] relaxed: the exchange below decides.
    std::uint32_t seen = state_.load(std::memory_order::relaxed);
    while (seen < first_arm) {
      // [suspension.claim] acq_rel: acquire pairs with [suspension.commit]; weaker: the caller wakes a task that it
      // does not see suspended. Release pairs with [suspension.arm]; weaker: the task does not see what its waker did.
      if (state_.compare_exchange_strong(seen, first_arm + arm, std::memory_order::acq_rel,
                                         std::memory_order::relaxed)) {
        return seen == asleep ? claim_result::must_wake : claim_result::early;
      }
    }
    return claim_result::lost;
  }

  /// Whether no thread has claimed the task yet; a guess.
  [[nodiscard]] bool open() const noexcept {
    // [suspension.open] relaxed: a guess.
    return state_.load(std::memory_order::relaxed) < first_arm;
  }

  /// Returns the arm that woke the task; from here on the task sees what its waker did before. Called by the task
  /// itself, after it was woken.
  [[nodiscard]] std::uint32_t arm() const noexcept {
    // [suspension.arm] acquire: pairs with [suspension.claim]; weaker: a task that was claimed before it slept does not
    // see what its waker did.
    return state_.load(std::memory_order::acquire) - first_arm;
  }

 private:
  static constexpr std::uint32_t falling_asleep = 0;
  static constexpr std::uint32_t asleep = 1;
  static constexpr std::uint32_t first_arm = 2;

  typename Atomics::template atomic<std::uint32_t> state_;
};

/// In each place where a task waits that may be woken from several: whether a thread took the task out of this place,
/// came too late to claim it, and does not touch the task any more.
template <class Atomics = std_atomics>
class passed_over {
 public:
  passed_over() noexcept : it_was_(false) {}
  passed_over(const passed_over&) = delete;
  passed_over& operator=(const passed_over&) = delete;

  /// Called by the thread that came too late, as the last thing. Wait-free.
  void set() noexcept {
    // [suspension.pass] release: pairs with [suspension.passed]; weaker: the task is destroyed while the thread that
    // came too late still reads it.
    it_was_.store(true, std::memory_order::release);
  }
  /// Called by the thread that destroys the task. Wait-free.
  [[nodiscard]] bool get() const noexcept {
    // [suspension.passed] acquire: pairs with [suspension.pass]; weaker: the task is destroyed while the thread that
    // came too late still reads it.
    return it_was_.load(std::memory_order::acquire);
  }

 private:
  typename Atomics::template atomic<bool> it_was_;
};

}  // namespace runq
