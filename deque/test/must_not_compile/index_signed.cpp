// expect: must be an unsigned integer
// SPDX-License-Identifier: MIT
// The counters must wrap when they overflow. A signed counter may not.
#include <cstdint>

#include "runq/ring.hpp"

#ifdef RUNQ_CONTROL
using index = std::uint32_t;
#else
using index = std::int32_t;
#endif

runq::basic_ring<int, 256, index> queue;
