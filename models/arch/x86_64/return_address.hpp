// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace runq::model::compiled {

/// So many bytes before a return address are read.
inline constexpr std::size_t longest_call_bytes = 6;

/// Whether the instruction before that address is a call.
[[nodiscard]] inline bool follows_call(const std::byte* code) noexcept {
  constexpr std::byte call{0xe8};
  // Its second byte says call rather than jump.
  const auto indirect_call = [](const std::byte* instruction) {
    return instruction[0] == std::byte{0xff} && (instruction[1] & std::byte{0x38}) == std::byte{0x10};
  };
  return code[-5] == call || indirect_call(code - 2) || indirect_call(code - 3) || indirect_call(code - 6);
}

}  // namespace runq::model::compiled
