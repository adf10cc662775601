// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace runq::model::compiled {

/// So many bytes before a return address are read.
inline constexpr std::size_t longest_call_bytes = 4;

/// Whether the instruction before that address is a call.
[[nodiscard]] inline bool follows_call(const std::byte* code) noexcept {
  std::uint32_t instruction = 0;
  if (reinterpret_cast<std::uintptr_t>(code) % sizeof instruction != 0) return false;
  std::memcpy(&instruction, code - sizeof instruction, sizeof instruction);
  const bool to_label = (instruction & 0xfc000000) == 0x94000000;     // bl
  const bool to_register = (instruction & 0xfffffc1f) == 0xd63f0000;  // blr
  return to_label || to_register;
}

}  // namespace runq::model::compiled
