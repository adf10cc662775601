// expect: must count to at least twice its capacity
// SPDX-License-Identifier: MIT
// With 256 slots and an 8-bit counter, a full ring and an empty one would look the same.
#include <cstddef>
#include <cstdint>

#include "runq/ring.hpp"

#ifdef RUNQ_CONTROL
using index = std::uint16_t;
#else
using index = std::uint8_t;
#endif

runq::basic_ring<int, 256, index> queue;
