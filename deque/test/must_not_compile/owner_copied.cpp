// expect: deleted
// SPDX-License-Identifier: MIT
// Two owner handles would be two threads that push: the handle moves, and cannot be copied.
#include <utility>

#include "runq/ring.hpp"

void give_away(runq::ring<int>::owner mine) {
#ifdef RUNQ_CONTROL
  const runq::ring<int>::owner theirs = std::move(mine);
#else
  const runq::ring<int>::owner theirs = mine;
#endif
}
