// SPDX-License-Identifier: MIT
#pragma once

#include <sys/syscall.h>

namespace runq::model::compiled {

/// Without the loader's help: the checker may have crashed.
[[noreturn]] inline void end_process(int status) {
  for (;;) asm volatile("syscall" : : "a"(SYS_exit_group), "D"(status) : "rcx", "r11", "memory");
}

}  // namespace runq::model::compiled
