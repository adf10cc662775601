// expect: here the index type of a ring has no lock-free std::atomic; name a narrower one
// SPDX-License-Identifier: MIT
// As std::uint64_t on a processor of 32 bits without atomic instructions of 64 bits.
#include <cstdint>

#include "runq/ring.hpp"

#ifdef RUNQ_CONTROL
using index = std::uint32_t;
#else
__extension__ using index = unsigned __int128;
#endif

runq::basic_ring<int, 256, index> queue;
