// SPDX-License-Identifier: MIT
// The strict rule. The processors take turns, the first one first, with one row of the table for each turn in which
// something happens. A turn is one step of the program under the book's four rules:
//
//   1  at a fork, push at the tail of the own deque: the child, or the rest of the parent
//   2  idle: steal at the head of another deque
//   3  at a join that is not realized: pop at the tail of the own deque
//   4  with an empty deque: stall at the join, or steal. Here it steals whenever there is something to steal
//
// To wait and to take other work is one turn. So is to pop the rest of a task and to go on with it, as a function goes
// on after a call. A task or a rest that was stolen goes on in the thief's next turn.
//
// A task that waits stays on its thread's stack, below the work taken meanwhile, as in the book's tables. For one and
// two processors that is enough. With three or more, tasks that wait below others can come to wait for each other:
// fib(11) by continuations on three does. Such a run ends with `obstacle`; real schedulers take a waiting task off the
// stack.
#pragma once

#include <cstddef>
#include <vector>

#include "walkthrough/machine.hpp"
#include "walkthrough/run.hpp"

namespace runq::walkthrough {

/// What the rules have the processor do in its turn: nothing when it stalls or is idle and finds nothing.
[[nodiscard]] std::vector<step> turn(machine m, std::size_t processor);

/// The number of the rule behind a possible step; 0 for a step that needs none.
[[nodiscard]] int rule_behind(const machine& m, step s);

/// From main's first step until main has returned.
[[nodiscard]] run run_strictly(const program& p, stealing pushed, std::size_t processors);

}  // namespace runq::walkthrough
