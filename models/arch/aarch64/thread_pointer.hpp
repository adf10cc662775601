// SPDX-License-Identifier: MIT
// What thread-local variables lie relative to, and by which the C library knows the running thread.
#pragma once

#include <cstddef>

namespace runq::model {

inline void set_thread_pointer(std::byte* to) noexcept { asm volatile("msr tpidr_el0, %0" : : "r"(to) : "memory"); }

}  // namespace runq::model
