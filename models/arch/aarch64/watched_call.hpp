// SPDX-License-Identifier: MIT
// How a call of a function in another module is watched: outside.cpp, which alone includes this.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <elf.h>

#include "abi.hpp"

// A watched call, to which x17 points, goes on to its function. In a check it is counted, or, where the effects of the
// function are known, these are noted. All registers that may hold arguments are kept; what lies on the stack then is
// an argument_registers.
asm(R"(
.type runq_watched_call, %function
runq_watched_call:
  adrp x16, _ZN4runq5model8compiled12this_processE
  add x16, x16, :lo12:_ZN4runq5model8compiled12this_processE
  ldrb w16, [x16]
  cbz w16, 1f
  ldr x16, [x17]
  cbnz x16, 2f
  ldr x16, [x17, 16]
  add x16, x16, 1
  str x16, [x17, 16]
1:
  ldr x16, [x17, 8]
  br x16
2:
  sub sp, sp, 224
  stp x0, x1, [sp]
  stp x2, x3, [sp, 16]
  stp x4, x5, [sp, 32]
  stp x6, x7, [sp, 48]
  stp q0, q1, [sp, 64]
  stp q2, q3, [sp, 96]
  stp q4, q5, [sp, 128]
  stp q6, q7, [sp, 160]
  stp x8, x17, [sp, 192]
  stp x29, x30, [sp, 208]
  add x29, sp, 208
  mov x0, x17
  mov x1, sp
  bl runq_note_known_call
  ldp x0, x1, [sp]
  ldp x2, x3, [sp, 16]
  ldp x4, x5, [sp, 32]
  ldp x6, x7, [sp, 48]
  ldp q0, q1, [sp, 64]
  ldp q2, q3, [sp, 96]
  ldp q4, q5, [sp, 128]
  ldp q6, q7, [sp, 160]
  ldp x8, x17, [sp, 192]
  ldp x29, x30, [sp, 208]
  add sp, sp, 224
  ldr x16, [x17, 8]
  br x16
.size runq_watched_call, . - runq_watched_call
)");

namespace runq::model::compiled {

static_assert(offsetof(argument_registers, returned_object) == 192 && sizeof(argument_registers) == 224);

/// Whether the loader puts the address of a symbol there.
[[nodiscard]] inline bool is_address_of_symbol(std::uint64_t relocation_type) noexcept {
  return relocation_type == R_AARCH64_JUMP_SLOT || relocation_type == R_AARCH64_GLOB_DAT ||
         relocation_type == R_AARCH64_ABS64;
}

/// Writes code that goes on at `function`, with `call` in x17.
inline constexpr std::size_t bytes_of_piece = 32;
inline void write_piece(std::uint8_t* at, const void* call, const void* function) noexcept {
  constexpr std::array<std::uint32_t, 4> code{0x58000091,   // ldr x17, .+16
                                              0x580000b0,   // ldr x16, .+20
                                              0xd61f0200,   // br x16
                                              0xd503201f};  // nop
  std::memcpy(at, code.data(), sizeof code);
  std::memcpy(at + sizeof code, &call, sizeof call);
  std::memcpy(at + sizeof code + sizeof call, &function, sizeof function);
}

}  // namespace runq::model::compiled
