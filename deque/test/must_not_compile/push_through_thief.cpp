// expect: push
// SPDX-License-Identifier: MIT
// Only the owner pushes; the handle for other threads has no such operation.
#include "runq/ring.hpp"

#ifdef RUNQ_CONTROL
bool add(runq::ring<int>::owner& queue) { return queue.push(1); }
#else
bool add(runq::ring<int>::thief& queue) { return queue.push(1); }
#endif
