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

/// A number of so many bytes that may be negative, with its sign; 0: none that may be.
[[nodiscard]] constexpr std::uint64_t with_sign(std::uint64_t value, unsigned signed_bytes) {
  const bool is_short = signed_bytes != 0 && signed_bytes < sizeof value;
  const unsigned unused = is_short ? 64 - 8 * signed_bytes : 0;
  return is_short ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused) : value;
}

/// The last digits of a pointer, always the same number of digits: a pointer may differ in the next run, but the
/// columns must not move. A number of `signed_bytes` bytes may be negative.
[[nodiscard]] inline std::string plain_value(std::uint64_t value, unsigned digits = shown_digits,
                                             unsigned signed_bytes = 0) {
  value = with_sign(value, signed_bytes);
  const bool is_small = value <= largest_small_value || ~value <= largest_small_value;
  if (signed_bytes != 0 && (is_small || signed_bytes < sizeof value))
    return fmt::format("{}", static_cast<std::int64_t>(value));
  if (value <= largest_small_value) return fmt::format("{}", value);
  if (~value <= largest_small_value) return fmt::format("2^64-{}", ~value + 1);
  if (digits >= all_digits) return fmt::format("{:016x}", value);
  return fmt::format("…{:0{}x}", value & ((std::uint64_t{1} << 4 * digits) - 1), digits);
}

}  // namespace runq::model
