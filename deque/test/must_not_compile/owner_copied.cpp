// expect: deleted
// SPDX-License-Identifier: MIT
// With two owner handles two threads could push. So the handle can be moved but not copied.
#include <utility>

#include "runq/ring.hpp"

void give_away(runq::ring<int>::owner mine) {
#ifdef RUNQ_CONTROL
  const runq::ring<int>::owner theirs = std::move(mine);
#else
  const runq::ring<int>::owner theirs = mine;
#endif
}
