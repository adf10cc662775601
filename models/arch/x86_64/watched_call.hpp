// SPDX-License-Identifier: MIT
// How a call of a function in another module is watched: outside.cpp, which alone includes this.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <elf.h>

#include "abi.hpp"

// A watched call, to which r11 points, goes on to its function. In a check it is counted, or, where the effects of the
// function are known, these are noted. All registers that may hold arguments are kept; what lies on the stack then is
// an argument_registers.
asm(R"(
.type runq_watched_call, @function
runq_watched_call:
  cmpb $0, _ZN4runq5model8compiled12this_processE(%rip)
  je 1f
  cmpq $0, (%r11)
  jne 2f
  incq 16(%r11)
1:
  jmpq *8(%r11)
2:
  pushq %r11
  subq $192, %rsp
  movq %rdi, (%rsp)
  movq %rsi, 8(%rsp)
  movq %rdx, 16(%rsp)
  movq %rcx, 24(%rsp)
  movq %r8, 32(%rsp)
  movq %r9, 40(%rsp)
  movaps %xmm0, 48(%rsp)
  movaps %xmm1, 64(%rsp)
  movaps %xmm2, 80(%rsp)
  movaps %xmm3, 96(%rsp)
  movaps %xmm4, 112(%rsp)
  movaps %xmm5, 128(%rsp)
  movaps %xmm6, 144(%rsp)
  movaps %xmm7, 160(%rsp)
  movq %rax, 176(%rsp)
  movq %r11, %rdi
  movq %rsp, %rsi
  call runq_note_known_call
  movq (%rsp), %rdi
  movq 8(%rsp), %rsi
  movq 16(%rsp), %rdx
  movq 24(%rsp), %rcx
  movq 32(%rsp), %r8
  movq 40(%rsp), %r9
  movaps 48(%rsp), %xmm0
  movaps 64(%rsp), %xmm1
  movaps 80(%rsp), %xmm2
  movaps 96(%rsp), %xmm3
  movaps 112(%rsp), %xmm4
  movaps 128(%rsp), %xmm5
  movaps 144(%rsp), %xmm6
  movaps 160(%rsp), %xmm7
  movq 176(%rsp), %rax
  addq $192, %rsp
  popq %r11
  jmpq *8(%r11)
.size runq_watched_call, . - runq_watched_call
)");

namespace runq::model::compiled {

static_assert(offsetof(argument_registers, watched_call) == 192 && sizeof(argument_registers) == 208);

/// Whether the loader puts the address of a symbol there.
[[nodiscard]] inline bool is_address_of_symbol(std::uint64_t relocation_type) noexcept {
  return relocation_type == R_X86_64_JUMP_SLOT || relocation_type == R_X86_64_GLOB_DAT ||
         relocation_type == R_X86_64_64;
}

/// Writes code that goes on at `function`, with `call` in r11.
inline constexpr std::size_t bytes_of_piece = 24;
inline void write_piece(std::uint8_t* at, const void* call, const void* function) noexcept {
  constexpr std::array<std::uint8_t, 2> move{0x49, 0xbb};              // movabsq $call, %r11
  constexpr std::array<std::uint8_t, 6> jump{0xff, 0x25, 0, 0, 0, 0};  // jmpq *(%rip)
  const auto put = [&at](const void* bytes, std::size_t size) {
    std::memcpy(at, bytes, size);
    at += size;
  };
  put(move.data(), move.size());
  put(&call, sizeof call);
  put(jump.data(), jump.size());
  put(&function, sizeof function);
}

}  // namespace runq::model::compiled
