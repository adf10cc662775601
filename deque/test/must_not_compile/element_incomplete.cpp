// expect: must be of a complete type
// SPDX-License-Identifier: MIT
// A slot holds the element itself, so its size must be known; a pointer to an incomplete type is fine.
#include "runq/ring.hpp"

struct task;

#ifdef RUNQ_CONTROL
using element = task*;
#else
using element = task;
#endif

runq::ring<element> queue;
