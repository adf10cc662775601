// SPDX-License-Identifier: MIT
#pragma once

#include <sys/syscall.h>

namespace runq::model::compiled {

/// Without the loader's help: the checker may have crashed.
[[noreturn]] inline void end_process(int status) {
  register long number asm("x8") = SYS_exit_group;
  register long first asm("x0") = status;
  for (;;) asm volatile("svc 0" : "+r"(first) : "r"(number) : "memory");
}

}  // namespace runq::model::compiled
