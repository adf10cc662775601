// SPDX-License-Identifier: MIT
// The strict rule. The processors take turns, the first one first, with one row of the table for each turn in which
// something happens. A turn is one step of the program under the book's four rules:
//
//   1  at a fork, push at the tail of the own deque: the child, or the rest of the parent
//   2  idle: steal at the head of another deque
//   3  at a join that is not realized: pop at the tail of the own deque
//   4  with an empty deque: stall at the join, or steal. Here it steals whenever there is something to steal
//
// To wait and to take other work is one turn. To pop the rest of a task and to go on with it is also one turn, as a
// function goes on after a call. A task or a rest that was stolen goes on in the thief's next turn.
//
// A task that waits stays on its thread's stack, below the work taken meanwhile, as in the book's tables. With one or
// two processors that causes no deadlock. With three or more it can: tasks that wait below others on their stacks may
// wait for each other, as in fib(11) by continuations on three processors. Such a run ends with `obstacle`. Real
// schedulers take a waiting task off the stack.
#pragma once

#include <cstddef>
#include <vector>

#include "walkthrough/machine.hpp"
#include "walkthrough/run.hpp"

namespace runq::walkthrough {

/// The steps that the processor takes in its turn by the rules; none when it stalls, or is idle and finds nothing.
[[nodiscard]] std::vector<step> turn(machine m, std::size_t processor);

/// The number of the rule that causes a possible step; 0 for a step that follows from no rule.
[[nodiscard]] int rule_behind(const machine& m, step s);

/// Runs the program by the strict rule, from main's first step until main has returned.
[[nodiscard]] run run_strictly(const program& p, stealing pushed, std::size_t processors);

}  // namespace runq::walkthrough
