// expect: the capacity of a ring must be a power of two
// SPDX-License-Identifier: MIT
// Slots are found by `count % Capacity`, which stays right when the counter wraps only for a power of two.
#include <cstddef>

#include "runq/ring.hpp"

#ifdef RUNQ_CONTROL
constexpr std::size_t capacity = 64;
#else
constexpr std::size_t capacity = 100;
#endif

runq::basic_ring<int, capacity> queue;
