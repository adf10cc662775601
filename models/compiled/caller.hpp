// SPDX-License-Identifier: MIT
// Entry points by which a loop may wait: they keep what their caller's state consists of, before they go on in C++.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace runq::model::compiled {

/// What a function has to leave as it was, at the moment of a call; stack points to where the call returns to.
struct caller_state {
  std::array<std::uint64_t, 6> registers{};
  const std::byte* stack = nullptr;
};

}  // namespace runq::model::compiled

// Of the last call of such an entry point. The registers that the calling function expects to find unchanged, and its
// stack, determine what the thread does next. It is only read in a check: outside there may be real threads.
extern "C" __attribute__((visibility("hidden"))) runq::model::compiled::caller_state runq_caller;

// The function `prefix name`, which goes on as the function runq_`name`.
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
