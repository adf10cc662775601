// SPDX-License-Identifier: MIT
// What thread-local storage lies relative to.
#pragma once

#include <cstddef>

namespace runq::model::compiled {

void set_thread_pointer(std::byte* to) noexcept { asm volatile("msr tpidr_el0, %0" : : "r"(to) : "memory"); }

}  // namespace runq::model::compiled
