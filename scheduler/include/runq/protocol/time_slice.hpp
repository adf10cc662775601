// SPDX-License-Identifier: MIT
// time_slice: how a task that has run for too long learns that it must yield its processor, and how all tasks learn it
// when their run ends.
//
// Source: Go's sysmon preempts a processor's task when it has seen the same schedtick for 10 ms (runtime/proc.go,
// retake and preemptone). In Go the request is a flag, which the next task clears. Here it is the number of the slice
// that is over. No thread has to clear it, so the request to all slices at the end of a run cannot be lost. Models:
// models/cases/scheduler/time_slice/.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "runq/atomics.hpp"
#include "runq/common.hpp"

namespace runq {

/// The time slices of one processor, numbered from 1. The thread that holds the processor begins a slice; the monitor
/// ends one slice; the thread that ends the run ends all. All operations are wait-free.
template <class Atomics = std_atomics>
class time_slice {
 public:
  using number = std::uint64_t;

  time_slice() noexcept : over_(number{0}), now_(number{1}) {}
  time_slice(const time_slice&) = delete;
  time_slice& operator=(const time_slice&) = delete;

  /// Begins the next slice. It is not over unless end_all() was called. Only the thread that holds the processor.
  void begin() noexcept {
    mine_.set(mine_.get() + 1);
    // [slice.begin] relaxed: a number to be compared, nothing is published by it.
    now_.store(mine_.get(), std::memory_order::relaxed);
  }

  /// Whether the present slice is over: a task asks at every co_await. Only the thread that holds the processor.
  RUNQ_ON_EVERY_CALL [[nodiscard]] bool over() const noexcept {
    // [slice.over] relaxed: at worst the task learns of it at a later co_await.
    return over_.load(std::memory_order::relaxed) >= mine_.get();
  }

  /// The number of the present slice, for end(). Any thread.
  [[nodiscard]] number current() const noexcept {
    // [slice.current] relaxed: an old number ends a slice that is over anyway.
    return now_.load(std::memory_order::relaxed);
  }

  /// Ends slice `seen`. If another slice has begun since, this does nothing. Only the monitor.
  void end(number seen) noexcept {
    // [slice.end.read] relaxed: the compare-exchange below finds out if the number is old.
    number before = over_.load(std::memory_order::relaxed);
    // [slice.end] relaxed: at worst the task learns of it at a later co_await. A compare-exchange, because end_all()
    // may come in between and must not be overwritten; it fails only then.
    if (before < seen)
      over_.compare_exchange_strong(before, seen, std::memory_order::relaxed, std::memory_order::relaxed);
  }

  /// Ends all slices, also those that begin later. Any thread.
  void end_all() noexcept {
    // [slice.end_all] relaxed: at worst tasks learn of it at a later co_await.
    over_.store(std::numeric_limits<number>::max(), std::memory_order::relaxed);
  }

  /// Slices that begin from now on are not over. No thread may hold the processor, and no monitor may run.
  void restart() noexcept {
    // [slice.restart] relaxed: the next thread that gets the processor gets it under a lock.
    over_.store(number{0}, std::memory_order::relaxed);
  }

 private:
  typename Atomics::template atomic<number> over_;
  // The present slice: for the thread that holds the processor, where a plain comparison costs less, and for others.
  typename Atomics::template cell<number> mine_{number{1}};
  typename Atomics::template atomic<number> now_;
};

}  // namespace runq
