// SPDX-License-Identifier: MIT
#pragma once

namespace runq::model::compiled {

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
