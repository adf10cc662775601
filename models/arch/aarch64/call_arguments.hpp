// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdarg>
#include <cstdint>
#include <cstring>

namespace runq::model::compiled {

/// The registers in which the arguments of a call travel, and what lies before the arguments on the stack.
struct argument_registers {
  std::array<std::uint64_t, 8> whole;
  std::array<std::array<std::uint64_t, 2>, 8> vectors;
  void* returned_object;
  const void* watched_call;
  const void* callers_frame;
  const void* return_address;
};

/// Makes `list` that of the arguments after the first `named` ones.
inline void begin_argument_list(va_list& list, argument_registers& registers, unsigned named) noexcept {
  const struct {
    void* further;
    void* whole_end;
    void* vectors_end;
    int whole_left;  // as negative numbers of bytes
    int vectors_left;
  } fields{&registers + 1, registers.whole.end(), registers.vectors.end(),
           -static_cast<int>((registers.whole.size() - named) * sizeof registers.whole[0]),
           -static_cast<int>(sizeof registers.vectors)};
  static_assert(sizeof fields == sizeof(va_list));
  std::memcpy(&list, &fields, sizeof fields);
}

}  // namespace runq::model::compiled
