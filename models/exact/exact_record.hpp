// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "exact_operation.hpp"

namespace runq::model::exact {

/// In a location's record: its init event; bit 32 tells whether a plain variable has been written.
inline constexpr std::uintptr_t written_flag = std::uintptr_t{1} << 32;

[[nodiscard]] inline void* to_record(event_id e, bool written) noexcept {
  const std::uintptr_t number = (std::uintptr_t{e.thread} << 16 | e.index) + 1;
  return reinterpret_cast<void*>(number | (written ? written_flag : 0));
}
[[nodiscard]] inline event_id from_record(void* record) noexcept {
  const std::uintptr_t number = (reinterpret_cast<std::uintptr_t>(record) & ~written_flag) - 1;
  return {static_cast<std::uint16_t>(number >> 16), static_cast<std::uint16_t>(number)};
}
[[nodiscard]] inline bool is_written(void* record) noexcept {
  return (reinterpret_cast<std::uintptr_t>(record) & written_flag) != 0;
}

}  // namespace runq::model::exact
