// SPDX-License-Identifier: MIT
#pragma once

namespace runq::model::compiled {

/// Those that a function has to leave as they were, without the stack pointer: x19 to x29, and d8 to d15. And x30,
/// which says where the call returns to, as the top of the stack does elsewhere.
inline constexpr unsigned kept_registers = 20;

}  // namespace runq::model::compiled

// The function `prefix name`, which keeps these registers in runq_caller, and then the stack pointer, and goes on as
// the function runq_`name`.
#define RUNQ_ENTRY(prefix, name)                                               \
  asm(".globl " prefix name "\n.type " prefix name ", %function\n" prefix name \
      ":\n"                                                                    \
      "adrp x16, runq_caller\n"                                                \
      "add x16, x16, :lo12:runq_caller\n"                                      \
      "stp x19, x20, [x16]\n"                                                  \
      "stp x21, x22, [x16, 16]\n"                                              \
      "stp x23, x24, [x16, 32]\n"                                              \
      "stp x25, x26, [x16, 48]\n"                                              \
      "stp x27, x28, [x16, 64]\n"                                              \
      "stp x29, x30, [x16, 80]\n"                                              \
      "stp d8, d9, [x16, 96]\n"                                                \
      "stp d10, d11, [x16, 112]\n"                                             \
      "stp d12, d13, [x16, 128]\n"                                             \
      "stp d14, d15, [x16, 144]\n"                                             \
      "mov x17, sp\n"                                                          \
      "str x17, [x16, 160]\n"                                                  \
      "b runq_" name                                                           \
      "\n"                                                                     \
      ".size " prefix name ", . - " prefix name "\n");
