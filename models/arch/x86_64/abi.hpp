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

/// A function's first instructions, as compilers begin one whose variables ask for more alignment than a call gives:
/// `push`, `mov` between registers, `and $-64, %rsp`, and then `sub $256, %rsp`.
class aligning_beginning {
 public:
  aligning_beginning(const std::uint8_t* code, std::uintptr_t callers_stack) noexcept
      : at_(code), pointer_(callers_stack - sizeof(void*)) {}

  /// Where the stack pointer lies behind them; nothing if they are others.
  [[nodiscard]] std::optional<std::uintptr_t> stack_pointer() noexcept {
    while (skip_harmless() || skip_push() || skip_align()) {
    }
    return is_aligned_ && skip_subtract() && !goes_on_in_steps() ? std::optional(pointer_) : std::nullopt;
  }

 private:
  template <std::size_t N>
  [[nodiscard]] bool starts(const std::uint8_t (&with)[N]) const noexcept {
    return std::memcmp(at_, with, N) == 0;
  }
  /// endbr64; a move between registers that does not change the stack pointer.
  [[nodiscard]] bool skip_harmless() noexcept {
    if (starts({0xf3, 0x0f, 0x1e, 0xfa})) return skip(4);
    const bool has_prefix = (at_[0] & 0xf0) == 0x40;
    const std::uint8_t* const move = has_prefix ? at_ + 1 : at_;
    const bool to_stack_pointer = (move[1] & 7) == 4 && !(has_prefix && (at_[0] & 1) != 0);
    if (move[0] != 0x89 || move[1] < 0xc0 || to_stack_pointer) return false;
    return skip(has_prefix ? 3 : 2);
  }
  [[nodiscard]] bool skip_push() noexcept {
    const bool has_prefix = at_[0] == 0x41;  // of the registers from %r8 on
    if ((at_[has_prefix ? 1 : 0] & 0xf8) != 0x50) return false;
    pointer_ -= sizeof(void*);
    return skip(has_prefix ? 2 : 1);
  }
  [[nodiscard]] bool skip_align() noexcept {
    if (!starts({0x48, 0x83, 0xe4}) && !starts({0x48, 0x81, 0xe4})) return false;
    pointer_ &= static_cast<std::uintptr_t>(skip_constant());
    is_aligned_ = true;
    return true;
  }
  [[nodiscard]] bool skip_subtract() noexcept {
    const bool adds = starts({0x48, 0x83, 0xc4}) || starts({0x48, 0x81, 0xc4});
    if (!adds && !starts({0x48, 0x83, 0xec}) && !starts({0x48, 0x81, 0xec})) return false;
    const std::intptr_t value = skip_constant();
    pointer_ += static_cast<std::uintptr_t>(adds ? value : -value);
    return true;
  }
  /// `orq $0, (%rsp)`: with -fstack-clash-protection a large frame is taken page by page.
  [[nodiscard]] bool goes_on_in_steps() const noexcept { return starts({0x48, 0x83, 0x0c, 0x24, 0x00}); }
  /// The number that an operation on the stack pointer has, of one byte or of four.
  [[nodiscard]] std::intptr_t skip_constant() noexcept {
    const bool is_byte = at_[1] == 0x83;
    std::int32_t value = static_cast<std::int8_t>(at_[3]);
    if (!is_byte) std::memcpy(&value, at_ + 3, sizeof value);
    at_ += is_byte ? 4 : 7;
    return value;
  }
  bool skip(int bytes) noexcept {
    at_ += bytes;
    return true;
  }

  const std::uint8_t* at_;
  std::uintptr_t pointer_;
  bool is_aligned_ = false;
};

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
