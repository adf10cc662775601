// SPDX-License-Identifier: MIT
// How code calls and is called on this processor, and what compilers and libraries agree on.
#pragma once

#include <array>
#include <cstdarg>
#include <cstddef>
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

/// Whether a call stores on the stack where it returns to, right below the caller's part of it.
inline constexpr bool calls_store_return_address = true;

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

/// The guard of a function-local static. The program's code looks at the first byte: whether the initialisation is
/// done. The second half says how far it is.
struct guard_of_static {
  static constexpr bool first_byte_says_done = true;
  static constexpr unsigned read_bytes = 1;  ///< by the program's code
  static constexpr std::size_t state_at = 4;
  static constexpr std::size_t state_bytes = 4;
  static constexpr std::uint64_t under_way = 1;
  static constexpr std::uint64_t done = 2;
};

/// Those that a function has to leave as they were, without the stack pointer.
inline constexpr unsigned kept_registers = 6;

}  // namespace runq::model::compiled

// The function `prefix name`, which keeps these registers in runq_caller, and then the stack pointer, and goes on as
// the function runq_`name`.
#define RUNQ_ENTRY(prefix, name)                                               \
  asm(".globl " prefix name "\n.type " prefix name ", @function\n" prefix name \
      ":\n"                                                                    \
      "movq %rbx, runq_caller(%rip)\n"                                         \
      "movq %rbp, runq_caller+8(%rip)\n"                                       \
      "movq %r12, runq_caller+16(%rip)\n"                                      \
      "movq %r13, runq_caller+24(%rip)\n"                                      \
      "movq %r14, runq_caller+32(%rip)\n"                                      \
      "movq %r15, runq_caller+40(%rip)\n"                                      \
      "movq %rsp, runq_caller+48(%rip)\n"                                      \
      "jmp runq_" name                                                         \
      "\n"                                                                     \
      ".size " prefix name ", . - " prefix name "\n");
