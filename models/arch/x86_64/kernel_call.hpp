// SPDX-License-Identifier: MIT
// The instruction that calls the kernel.
#pragma once

namespace runq::model {

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
