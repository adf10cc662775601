// SPDX-License-Identifier: MIT
// What the operating system has of this processor: its pages, its calls, and the registers of code that a signal has
// stopped.
#pragma once

#include <csignal>
#include <cstddef>

#include <ucontext.h>
#include <unistd.h>

namespace runq::model {

// The pages by which the system maps and protects memory.
/// 4, 16 or 64 KiB: the kernel says which.
inline const std::size_t page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
inline constexpr std::size_t largest_page_bytes = std::size_t{64} * 1024;

/// Returns what the kernel does: -errno if the call fails.
[[nodiscard]] inline long call_kernel(long number, const long (&arguments)[6]) noexcept {
  register long call asm("x8") = number;
  register long first asm("x0") = arguments[0];
  register long second asm("x1") = arguments[1];
  register long third asm("x2") = arguments[2];
  register long fourth asm("x3") = arguments[3];
  register long fifth asm("x4") = arguments[4];
  register long sixth asm("x5") = arguments[5];
  asm volatile("svc 0"
               : "+r"(first)
               : "r"(call), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
               : "memory", "cc");
  return first;
}

}  // namespace runq::model

namespace runq::model::compiled {

[[nodiscard]] inline const std::byte* stopped_code(const ucontext_t& registers) noexcept {
  return reinterpret_cast<const std::byte*>(registers.uc_mcontext.pc);
}

/// After the signal handler `function` runs instead, on the stack below `stack_end`, a multiple of 16.
inline void set_code_and_stack(void (*function)(), std::byte* stack_end, ucontext_t& registers) noexcept {
  registers.uc_mcontext.pc = reinterpret_cast<unsigned long long>(function);
  registers.uc_mcontext.sp = reinterpret_cast<unsigned long long>(stack_end);
  registers.uc_mcontext.regs[29] = registers.uc_mcontext.regs[30] = 0;  // nobody has called it
}

/// Whether the address was so wrong that the processor does not say which it was.
[[nodiscard]] inline bool has_no_address(const siginfo_t&) noexcept { return false; }

}  // namespace runq::model::compiled
