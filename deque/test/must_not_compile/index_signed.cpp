// expect: must be an unsigned integer
// SPDX-License-Identifier: MIT
// A counter that overflows must wrap; a signed one may not.
#include <cstdint>

#include "runq/ring.hpp"

#ifdef RUNQ_CONTROL
using index = std::uint32_t;
#else
using index = std::int32_t;
#endif

runq::basic_ring<int, 256, index> queue;
