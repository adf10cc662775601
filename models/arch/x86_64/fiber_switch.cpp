// SPDX-License-Identifier: MIT
#include <cstdint>
#include <cstring>

#include "exact_fiber_switch.hpp"

// What a function has to leave as it was lies on the stack that is left: the registers, and how to calculate with
// floating-point numbers.
asm(R"(
.text
.globl runq_switch_stack
.hidden runq_switch_stack
.type runq_switch_stack, @function
runq_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r15
  pushq %r14
  pushq %r13
  pushq %r12
  subq $8, %rsp
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  ldmxcsr (%rsp)
  fldcw 4(%rsp)
  addq $8, %rsp
  popq %r12
  popq %r13
  popq %r14
  popq %r15
  popq %rbx
  popq %rbp
  popq %rcx
  jmpq *%rcx
.size runq_switch_stack, . - runq_switch_stack

.globl runq_begin_fiber
.hidden runq_begin_fiber
.type runq_begin_fiber, @function
runq_begin_fiber:
  movq %r12, %rdi
  movq %r13, %rcx
  xorl %r12d, %r12d
  xorl %r13d, %r13d
  jmpq *%rcx
.size runq_begin_fiber, . - runq_begin_fiber
)");

extern "C" __attribute__((visibility("hidden"))) void runq_begin_fiber();

namespace runq::model::exact {

namespace {

/// What runq_switch_stack() takes from a stack.
struct left_stack {
  std::uint32_t vector_control;
  std::uint16_t floating_control;
  std::uint16_t unused;
  void* r12;
  void (*r13)(void*);
  std::uintptr_t r14, r15, rbx, rbp;
  void (*goes_on_at)();
  std::uintptr_t returns_to;
};
static_assert(sizeof(left_stack) % 16 == 8);  // as after a call

}  // namespace

void* new_stack(std::byte* end, void (*function)(void*), void* argument) noexcept {
  left_stack first{};
  asm("stmxcsr %0\nfnstcw %1" : "=m"(first.vector_control), "=m"(first.floating_control));
  first.r12 = argument;
  first.r13 = function;
  first.goes_on_at = &runq_begin_fiber;
  std::byte* const at = end - sizeof first;
  std::memcpy(at, &first, sizeof first);
  return at;
}

}  // namespace runq::model::exact
