// SPDX-License-Identifier: MIT
// From one stack to another; arch/<processor>/fiber_switch.cpp has how.
#pragma once

#include <cstddef>

/// Keeps at `*left` where the running code can go on, and goes on at `entered`, which was kept so or is a new_stack().
extern "C" __attribute__((visibility("hidden"))) void runq_switch_stack(void** left, void* entered);

namespace runq::model::exact {

/// A stack below `end`, a multiple of 16, on which `function(argument)` begins. It must not return.
[[nodiscard]] void* new_stack(std::byte* end, void (*function)(void*), void* argument) noexcept;

}  // namespace runq::model::exact
