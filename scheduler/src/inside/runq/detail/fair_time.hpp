// SPDX-License-Identifier: MIT
// How long a task or a call may keep a processor: the time slice of a task and the blocking call of a machine, which
// the monitor watches, and the chain of tasks that make each other runnable, which share a slice. These are decisions
// only: the caller passes the time.
//
// Source of the slice: retake() of Go's scheduler (runtime/proc.go). The chain is ours: see docs/scheduler.md.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runq/detail/timers.hpp"

namespace runq::detail {

/// How long a task may run before it has to yield: 10 ms, as in Go.
inline constexpr instant longest_slice = 10'000'000;

/// What the monitor saw of a processor's time slice. Only the monitor's thread.
class slice_watch {
 public:
  /// Whether the slice with this number, which runs at `t`, has been seen for so long that it is over. If so, the time
  /// of the next slice with the same number is counted from now on.
  [[nodiscard]] bool over(std::uint64_t number, instant t) noexcept {
    if (number != number_) {
      number_ = number;
      since_ = t;
      return false;
    }
    if (t - since_ < longest_slice) return false;
    since_ = t;
    return true;
  }
  /// Whether the slice is the one that was seen last.
  [[nodiscard]] bool is(std::uint64_t number) const noexcept { return number == number_; }

 private:
  std::uint64_t number_ = 0;
  instant since_ = 0;
};

/// What the monitor saw of a blocking call of a processor's machine. Only the monitor's thread.
class call_watch {
 public:
  /// Whether the call with this number, which is in progress at `t`, has been seen before. A call that is seen for the
  /// first time may be short.
  [[nodiscard]] bool again(std::uint64_t call, instant t) noexcept {
    if (call == call_) return true;
    call_ = call;
    since_ = t;
    return false;
  }
  /// Whether to take the processor away, at `t`, from the call that was seen again: at once if there is work for it, or
  /// if no machine looks for work; otherwise when the call has lasted for a time slice.
  [[nodiscard]] bool costs_the_processor(bool has_work, bool others_look, instant t) const noexcept {
    return has_work || !others_look || t - since_ >= longest_slice;
  }

 private:
  std::uint64_t call_ = 0;
  instant since_ = 0;
};

/// The tasks that a processor takes in a row from runnext or the fork deque. Two tasks that make each other runnable
/// would run by turns for ever. So a chain is full after 16 tasks, or when the time slice that they share is over; then
/// the oldest of the other tasks runs.
///
/// Tasks differ in length, and a pair that computes for 300 µs would get a thousand times as much of the processor as
/// one that computes for 300 ns. So a chain whose 16 tasks were short goes on until it has had half as much time as the
/// longest recent turn. (With every chain the remembered turn shrinks by a sixteenth.) A turn lasts from the end of one
/// chain to the 16th task of the next, and counts for at most two time slices. Chains stay at 16 tasks if all turns are
/// alike within a factor of two, or take less than 20 µs each on average; then the clock is read only once in 8 chains.
///
/// Only the thread that holds the processor.
class lifo_chain {
 public:
  static constexpr std::uint32_t fewest = 16;
  static constexpr std::uint32_t chains_per_look = 8;
  static constexpr instant short_turn = 20'000;

  /// Called when the next task comes from runnext or the fork deque.
  void grow() noexcept { ++length_; }
  /// Called when the next task comes from elsewhere.
  void end() noexcept {
    length_ = 0;
    look_at_ = first_look_;
  }
  /// Called when no other task wants the processor, or the processor was idle: the time that has passed counts for no
  /// turn.
  void forget() noexcept {
    end();
    last_end_ = 0;
    unmeasured_ = 0;
  }
  /// Whether the chain is long enough to ask full().
  [[nodiscard]] bool due(bool slice_is_over) const noexcept {
    return length_ >= look_at_ || (slice_is_over && length_ >= 2);
  }
  /// Whether another task must run now, at clock(). Asked when the chain is long enough.
  template <class Clock>
  [[nodiscard]] bool full(bool slice_is_over, Clock&& clock) noexcept {
    if (longest_ < short_turn) {
      if (++unmeasured_ < chains_per_look && !slice_is_over) {
        length_ = 0;
        return true;
      }
      const instant t = clock();
      if (slice_is_over || (last_end_ != 0 && t - last_end_ > chains_per_look * short_turn)) measure_all();
      start_over(t);
      return true;
    }
    const instant t = clock();
    if (length_ < fewest && !slice_is_over) {
      half_time_ = t;
      look_at_ = fewest;
      return false;
    }
    if (look_at_ <= fewest) measure(t);
    if (!slice_is_over && 2 * (t - begin_) < longest_) {
      look_at_ = length_ + half;
      return false;
    }
    if (longest_ < short_turn) first_look_ = fewest;
    start_over(t);
    return true;
  }

 private:
  static constexpr std::uint32_t half = fewest / 2;

  // From now on chains are measured, at least for a while: it is not known yet which of the last ones were long.
  void measure_all() noexcept {
    longest_ = 2 * short_turn;
    first_look_ = half;
  }
  void measure(instant t) noexcept {
    // If the chain did not begin where the last one ended, its beginning is estimated: the first half of its 16 tasks
    // took about as long as the second half.
    if (half_time_ != 0) begin_ = half_time_ - (t - half_time_);
    longest_ -= longest_ / 16;
    if (last_end_ != 0) longest_ = std::max(longest_, std::min(t - last_end_, 2 * longest_slice));
  }
  void start_over(instant t) noexcept {
    last_end_ = begin_ = t;
    half_time_ = 0;
    length_ = 0;
    unmeasured_ = 0;
    look_at_ = fewest;
  }

  std::uint32_t length_ = 0;
  std::uint32_t look_at_ = fewest;     // at this length full() is asked
  std::uint32_t first_look_ = fewest;  // full() is asked at this length if the beginning of the chain is not known
  std::uint32_t unmeasured_ = 0;       // chains since the clock was read
  instant begin_ = 0;
  instant half_time_ = 0;  // when half of the 16 had run; 0: the chain has begun where the last one ended
  instant last_end_ = 0;   // of the chain before, or of the last one that was measured; 0: not known
  instant longest_ = 0;    // the longest recent turn; not measured while it is below short_turn
};

}  // namespace runq::detail
