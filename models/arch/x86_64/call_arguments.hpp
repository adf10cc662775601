// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdarg>
#include <cstdint>
#include <cstring>

namespace runq::model::compiled {

/// The registers in which the arguments of a call travel, as va_arg() expects them, and what lies before the arguments
/// on the stack.
struct argument_registers {
  std::array<std::uint64_t, 6> whole;
  std::array<std::array<std::uint64_t, 2>, 8> vectors;
  std::uint64_t used_vectors;
  std::uint64_t unused;
  const void* watched_call;
  const void* return_address;
};

/// Makes `list` that of the arguments after the first `named` ones.
inline void begin_argument_list(va_list& list, argument_registers& registers, unsigned named) noexcept {
  const struct {
    unsigned next_whole;
    unsigned next_vector;
    void* further;
    void* registers;
  } fields{static_cast<unsigned>(named * sizeof registers.whole[0]), sizeof registers.whole, &registers + 1,
           &registers};
  static_assert(sizeof fields == sizeof(va_list));
  std::memcpy(&list, &fields, sizeof fields);
}

}  // namespace runq::model::compiled
