// SPDX-License-Identifier: MIT
// A fork_deque whose owner needs no fence and no read-modify-write for what no thief wants. One that is full makes a
// fork a task of its own. bench/results/decisions.md compares it.
#pragma once

#include "runq/detail/policy.hpp"
#include "runq/split_deque.hpp"

namespace runq::detail {

struct frame;

using fork_deque = basic_split_deque<frame*, 512, default_split_deque, policy>;

}  // namespace runq::detail
