// SPDX-License-Identifier: MIT
// timers: callbacks that are due at certain times, per processor (runq/protocol/timer_heap.hpp), by the monotonic
// clock.
#pragma once

#include <chrono>
#include <vector>

#include "runq/detail/policy.hpp"
#include "runq/protocol/timer_heap.hpp"

namespace runq::detail {

template <class T>
using timer_list = std::vector<T>;

using timer_heap = runq::timer_heap<policy, timer_list>;
using timer_node = timer_heap::node;

/// Nanoseconds of the monotonic clock.
using instant = timer_heap::instant;
inline constexpr instant never = timer_heap::never;
inline constexpr instant end_of_time = timer_heap::end_of_time;

[[nodiscard]] inline instant now() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
/// now() + d, but not later than the largest time; now() if d < 0.
[[nodiscard]] inline instant in(std::chrono::nanoseconds d) noexcept {
  const instant begin = now();
  if (d.count() <= 0) return begin;
  return d.count() > end_of_time - begin ? end_of_time : begin + d.count();
}

}  // namespace runq::detail

// Compiled once, in timers.cpp.
extern template class runq::timer_heap<runq::detail::policy, runq::detail::timer_list>;
