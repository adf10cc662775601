// SPDX-License-Identifier: MIT
// What the operating system has of this processor: its pages, its calls, and the registers of code that a signal has
// stopped.
#pragma once

#include <csignal>
#include <cstddef>

#include <ucontext.h>

namespace runq::model {

// The pages by which the system maps and protects memory.
inline constexpr std::size_t page_bytes = 4096;
inline constexpr std::size_t largest_page_bytes = page_bytes;

/// Returns what the kernel does: -errno if the call fails.
[[nodiscard]] inline long call_kernel(long number, const long (&arguments)[6]) noexcept {
  long result = number;
  register long fourth asm("r10") = arguments[3];
  register long fifth asm("r8") = arguments[4];
  register long sixth asm("r9") = arguments[5];
  asm volatile("syscall"
               : "+a"(result)
               : "D"(arguments[0]), "S"(arguments[1]), "d"(arguments[2]), "r"(fourth), "r"(fifth), "r"(sixth)
               : "rcx", "r11", "memory");
  return result;
}

}  // namespace runq::model

namespace runq::model::compiled {

[[nodiscard]] inline const std::byte* stopped_code(const ucontext_t& registers) noexcept {
  return reinterpret_cast<const std::byte*>(registers.uc_mcontext.gregs[REG_RIP]);
}

/// After the signal handler `function` runs instead, on the stack below `stack_end`, a multiple of 16.
inline void set_code_and_stack(void (*function)(), std::byte* stack_end, ucontext_t& registers) noexcept {
  registers.uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(function);
  registers.uc_mcontext.gregs[REG_RSP] = reinterpret_cast<greg_t>(stack_end - 8);  // as after a call
}

/// Whether the address was so wrong that the processor does not say which it was.
[[nodiscard]] inline bool has_no_address(const siginfo_t& fault) noexcept { return fault.si_code == SI_KERNEL; }

}  // namespace runq::model::compiled
