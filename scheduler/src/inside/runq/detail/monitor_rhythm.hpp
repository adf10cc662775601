// SPDX-License-Identifier: MIT
// monitor_rhythm: how long the monitor sleeps between two rounds.
//
// Source: sysmon of Go's scheduler (runtime/proc.go).
#pragma once

#include <algorithm>

#include "runq/detail/timers.hpp"

namespace runq::detail {

/// 20 µs while there is something to do. After more than 50 rounds in a row with nothing to do it asks for about 1 ms,
/// which the kernel's timer slack makes some 4 ms, and for twice as long each time, up to 10 ms. Called by the
/// monitor's thread only.
class monitor_rhythm {
 public:
  static constexpr instant shortest = 20'000;
  static constexpr instant longest = 10'000'000;
  static constexpr unsigned quick_rounds = 50;

  /// How long to sleep before the next round.
  [[nodiscard]] instant next() noexcept {
    if (idle_rounds_ == 0) {
      sleep_ = shortest;
    } else if (idle_rounds_ > quick_rounds) {
      sleep_ = std::min(2 * sleep_, longest);
    }
    return sleep_;
  }
  /// The round is over, and there was something to do, or not.
  void looked(bool did_something) noexcept { idle_rounds_ = did_something ? 0 : idle_rounds_ + 1; }
  /// Whether it has become as slow as it gets.
  [[nodiscard]] bool slowest() const noexcept { return sleep_ == longest; }

 private:
  instant sleep_ = shortest;
  unsigned idle_rounds_ = 0;
};

}  // namespace runq::detail
