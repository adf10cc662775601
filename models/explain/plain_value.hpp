// SPDX-License-Identifier: MIT
// How a value without a name is shown.
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace runq::model {

/// Larger values are shown as pointers, or as indices near the wrap-around.
inline constexpr std::uint64_t largest_small_value = 1U << 20;

/// How many digits of a pointer are shown, unless two that differ would look the same.
inline constexpr unsigned shown_digits = 6;
inline constexpr unsigned all_digits = 16;

/// The last digits of a pointer, always the same number of digits: a pointer may differ in the next run, but the
/// columns must not move.
[[nodiscard]] inline std::string plain_value(std::uint64_t value, unsigned digits = shown_digits) {
  if (value <= largest_small_value) return fmt::format("{}", value);
  if (~value <= largest_small_value) return fmt::format("2^64-{}", ~value + 1);
  if (digits >= all_digits) return fmt::format("{:016x}", value);
  return fmt::format("…{:0{}x}", value & ((std::uint64_t{1} << 4 * digits) - 1), digits);
}

}  // namespace runq::model
