// SPDX-License-Identifier: MIT
// How large a search is, as far as it can be told from what it has seen of it.
#pragma once

#include <cmath>
#include <string>

#include <fmt/format.h>

#include "verdict.hpp"

namespace runq::model {

/// Two digits, and zeros.
[[nodiscard]] inline std::string roughly(double number) {
  double unit = 1;
  while (number / unit >= 100) unit *= 10;
  return fmt::format("{:.0f}", std::round(number / unit) * unit);
}

/// ", of about 2600000; about 12 s left"; empty when nothing is known.
[[nodiscard]] inline std::string size_words(const search_progress& now) {
  constexpr double largest = 1e15;
  if (now.estimated <= 0) return {};
  if (!(now.estimated < largest)) return ", of more than 10^15";
  const auto done = static_cast<double>(now.executions);
  const double left = done == 0 ? 0 : now.seconds * (now.estimated - done) / done;
  const auto unit = [](double seconds) {
    constexpr double minute = 60;
    constexpr double hour = 3600;
    constexpr double day = 24 * hour;
    if (seconds < 2 * minute) return fmt::format("{:.0f} s", seconds);
    if (seconds < 2 * hour) return fmt::format("{:.0f} min", seconds / minute);
    if (seconds < 2 * day) return fmt::format("{:.0f} h", seconds / hour);
    return fmt::format("{:.0f} days", seconds / day);
  };
  return fmt::format(", of about {}; about {} left", roughly(now.estimated), unit(left < 0 ? 0 : left));
}

}  // namespace runq::model
