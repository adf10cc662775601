// SPDX-License-Identifier: MIT
// The registers of code that a signal has stopped.
#pragma once

#include <csignal>
#include <cstddef>

#include <ucontext.h>

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
