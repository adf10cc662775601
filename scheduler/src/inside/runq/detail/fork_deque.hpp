// SPDX-License-Identifier: MIT
// fork_deque: where a processor keeps its forks: continuations, or children that have not begun. A build with another
// one has a header of this name in a folder that it searches first: see scheduler/queues/.
#pragma once

#include "runq/chase_lev.hpp"
#include "runq/detail/policy.hpp"

namespace runq::detail {

struct frame;

using fork_deque = basic_chase_lev<frame*, policy>;

}  // namespace runq::detail
