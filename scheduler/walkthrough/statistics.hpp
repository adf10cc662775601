// SPDX-License-Identifier: MIT
// The book's statistics of a run, counted from its rows.
#pragma once

#include <cstddef>

#include "walkthrough/run.hpp"

namespace runq::walkthrough {

struct statistics {
  std::size_t steps = 0;               // the number of rows, including the first
  std::size_t deques_together = 0;     // the most entries in all deques of one row: the book's "max deque length"
  std::size_t longest_deque = 0;       // the most entries in one deque
  std::size_t stalled_while_idle = 0;  // joins whose thread had nothing else in its deque
  std::size_t stalled_while_busy = 0;  // joins whose thread popped other work
  std::size_t longest_stack = 0;       // the book's "size of call stack"
};

[[nodiscard]] statistics count(const run& r);

}  // namespace runq::walkthrough
