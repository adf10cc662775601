// SPDX-License-Identifier: MIT
// Three ways to give a handful of tasks of known length to processors, tick by tick: the comparison with which the book
// leads up to work stealing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace runq::walkthrough {

struct timed_task {
  std::string name;
  int before_join;  // ticks; at least 1
  int after_join = 0;
  std::optional<std::size_t> joins{};  // the task whose end it needs before the second part
};

enum class sharing {
  static_split,   // dealt out once; a processor does its tasks in their order and blocks at a join
  central_queue,  // one FIFO for all; a task that cannot go on is put aside, and queued again when it can
  own_deques,     // dealt out like static_split; own tail first, then the head of another's deque
};

/// From this tick on, until the next period begins, the processors do this: a task, "(blocked)" or "(idle)".
struct period {
  int from;
  std::vector<std::string> doing{};
  friend bool operator==(const period&, const period&) = default;
};

struct outcome {
  std::vector<period> periods{};
  int end = 0;                      // when the last task was done
  std::vector<int> without_work{};  // ticks until then, for each processor: idle or blocked
  int wasted = 0;                   // those of them in which a task lay in a queue that nobody had begun
  int shared_accesses = 0;          // to a queue of all, or to another processor's: these are contended
  int own_accesses = 0;             // to the processor's own queue
};

[[nodiscard]] outcome distribute(const std::vector<timed_task>& tasks, sharing how, std::size_t processors);

}  // namespace runq::walkthrough
