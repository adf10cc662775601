// SPDX-License-Identifier: MIT
// call_limit: how many blocking calls are without a processor, and who waits for a turn to make one.
#pragma once

#include "runq/semaphore.hpp"

namespace runq::detail {

/// Limits how many blocking calls are without a processor at the same time, and holds the tasks that wait for their
/// turn. A call takes a unit only when its processor is taken away, so a short call pays nothing. Therefore one call
/// more for each processor is possible: a call that still had its processor when the last unit was taken.
struct call_limit {
  explicit call_limit(unsigned most) : units(most, most) {}
  semaphore_core<> units;
};

}  // namespace runq::detail
