// SPDX-License-Identifier: MIT
// How code calls and is called on this processor, and what compilers and libraries agree on.
#pragma once

#include <array>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

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

/// A function's first instructions: how these align the stack is not looked for here.
class aligning_beginning {
 public:
  aligning_beginning(const std::uint8_t* /*code*/, std::uintptr_t /*callers_stack*/) noexcept {}
  [[nodiscard]] static std::optional<std::uintptr_t> stack_pointer() noexcept { return std::nullopt; }
};

/// Whether a call stores on the stack where it returns to, right below the caller's part of it.
inline constexpr bool calls_store_return_address = false;

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

/// The guard of a function-local static. The program's code reads all of it, and looks at the lowest bit: whether the
/// initialisation is done.
struct guard_of_static {
  static constexpr bool first_byte_says_done = false;
  static constexpr unsigned read_bytes = 8;  ///< by the program's code
  static constexpr std::size_t state_at = 0;
  static constexpr std::size_t state_bytes = 8;
  static constexpr std::uint64_t under_way = 2;
  static constexpr std::uint64_t done = 1;
};

/// Those that a function has to leave as they were, without the stack pointer: x19 to x29, and d8 to d15. And x30,
/// which says where the call returns to, as the top of the stack does elsewhere.
inline constexpr unsigned kept_registers = 20;

}  // namespace runq::model::compiled

// The function `prefix name`, which keeps these registers in runq_caller, and then the stack pointer, and goes on as
// the function runq_`name`.
#define RUNQ_ENTRY(prefix, name)                                               \
  asm(".globl " prefix name "\n.type " prefix name ", %function\n" prefix name \
      ":\n"                                                                    \
      "adrp x16, runq_caller\n"                                                \
      "add x16, x16, :lo12:runq_caller\n"                                      \
      "stp x19, x20, [x16]\n"                                                  \
      "stp x21, x22, [x16, 16]\n"                                              \
      "stp x23, x24, [x16, 32]\n"                                              \
      "stp x25, x26, [x16, 48]\n"                                              \
      "stp x27, x28, [x16, 64]\n"                                              \
      "stp x29, x30, [x16, 80]\n"                                              \
      "stp d8, d9, [x16, 96]\n"                                                \
      "stp d10, d11, [x16, 112]\n"                                             \
      "stp d12, d13, [x16, 128]\n"                                             \
      "stp d14, d15, [x16, 144]\n"                                             \
      "mov x17, sp\n"                                                          \
      "str x17, [x16, 160]\n"                                                  \
      "b runq_" name                                                           \
      "\n"                                                                     \
      ".size " prefix name ", . - " prefix name "\n");
