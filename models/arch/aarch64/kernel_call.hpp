// SPDX-License-Identifier: MIT
// The instruction that calls the kernel.
#pragma once

namespace runq::model {

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
