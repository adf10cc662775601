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
.type runq_switch_stack, %function
runq_switch_stack:
  stp d8, d9, [sp, -176]!
  stp d10, d11, [sp, 16]
  stp d12, d13, [sp, 32]
  stp d14, d15, [sp, 48]
  stp x19, x20, [sp, 64]
  stp x21, x22, [sp, 80]
  stp x23, x24, [sp, 96]
  stp x25, x26, [sp, 112]
  stp x27, x28, [sp, 128]
  stp x29, x30, [sp, 144]
  mrs x2, fpcr
  str x2, [sp, 160]
  mov x3, sp
  str x3, [x0]
  mov sp, x1
  ldr x3, [sp, 160]
  cmp x2, x3
  b.eq 1f
  msr fpcr, x3
1:
  ldp d10, d11, [sp, 16]
  ldp d12, d13, [sp, 32]
  ldp d14, d15, [sp, 48]
  ldp x19, x20, [sp, 64]
  ldp x21, x22, [sp, 80]
  ldp x23, x24, [sp, 96]
  ldp x25, x26, [sp, 112]
  ldp x27, x28, [sp, 128]
  ldp x29, x30, [sp, 144]
  ldp d8, d9, [sp], 176
  ret
.size runq_switch_stack, . - runq_switch_stack

.globl runq_begin_fiber
.hidden runq_begin_fiber
.type runq_begin_fiber, %function
runq_begin_fiber:
  mov x0, x19
  mov x1, x20
  mov x19, xzr
  mov x20, xzr
  mov x30, xzr
  br x1
.size runq_begin_fiber, . - runq_begin_fiber
)");

extern "C" __attribute__((visibility("hidden"))) void runq_begin_fiber();

namespace runq::model::exact {

namespace {

/// What runq_switch_stack() takes from a stack.
struct left_stack {
  std::uint64_t d8_to_d15[8];
  void* x19;
  void (*x20)(void*);
  std::uint64_t x21_to_x28[8];
  std::uintptr_t x29;
  void (*goes_on_at)();
  std::uint64_t floating_control;
  std::uint64_t unused;
};
static_assert(sizeof(left_stack) == 176);

}  // namespace

void* new_stack(std::byte* end, void (*function)(void*), void* argument) noexcept {
  left_stack first{};
  asm("mrs %0, fpcr" : "=r"(first.floating_control));
  first.x19 = argument;
  first.x20 = function;
  first.goes_on_at = &runq_begin_fiber;
  std::byte* const at = end - sizeof first;
  std::memcpy(at, &first, sizeof first);
  return at;
}

}  // namespace runq::model::exact
