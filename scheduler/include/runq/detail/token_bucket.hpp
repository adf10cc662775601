// SPDX-License-Identifier: MIT
// token_bucket: when so many permits are there. The arithmetic of a rate limiter, which is told all times.
//
// Source: the generic cell rate algorithm of ITU-T I.371: one number, the time at which the bucket will be full.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runq/detail/timers.hpp"

namespace runq::detail {

/// A bucket that is full at first, with `burst` permits, and to which one comes back every `interval` ns until it is
/// full. Exact: from any time to any later one at most burst + (time between) / interval permits are taken, rounded
/// down, and no fewer than that can be. Times are not before 0, as those of the monotonic clock.
class token_bucket {
 public:
  /// The longest that an empty bucket may take to become full: 100 years.
  static constexpr instant longest = instant{36'525} * 24 * 3600 * 1'000'000'000;

  /// 1 <= interval, 1 <= burst, interval * burst <= longest.
  token_bucket(instant interval, std::int64_t burst) noexcept : interval_(interval), burst_(burst) {}

  [[nodiscard]] std::int64_t burst() const noexcept { return burst_; }
  /// When n permits are there, if nobody takes one before; they are there already if that is in the past. 1 <= n <=
  /// burst.
  [[nodiscard]] instant ready_at(std::int64_t n) const noexcept { return full_at_ - (burst_ - n) * interval_; }
  /// Takes n permits, which are there now: ready_at(n) <= now.
  void take(std::int64_t n, instant now) noexcept { full_at_ = std::max(full_at_, now) + n * interval_; }

 private:
  instant interval_;
  std::int64_t burst_;
  instant full_at_ = 0;
};

}  // namespace runq::detail
