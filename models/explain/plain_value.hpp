// SPDX-License-Identifier: MIT
// How a value without a name is shown.
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace runq::model {

/// Larger values are shown as pointers, or as indices near the wrap-around.
inline constexpr std::uint64_t largest_small_value = 1U << 20;

/// The last six digits of a pointer, always the same number of digits: a pointer may differ in the next run, but the
/// columns must not move.
[[nodiscard]] inline std::string plain_value(std::uint64_t value) {
  if (value <= largest_small_value) return fmt::format("{}", value);
  if (~value <= largest_small_value) return fmt::format("2^64-{}", ~value + 1);
  return fmt::format("…{:06x}", value & 0xffffff);
}

}  // namespace runq::model
