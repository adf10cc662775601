// SPDX-License-Identifier: MIT
// The registers of code that a signal has stopped.
#pragma once

#include <csignal>
#include <cstddef>

#include <ucontext.h>

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
