// SPDX-License-Identifier: MIT
// Simulates, tick by tick, three ways to distribute a few tasks of known length to processors. With this comparison the
// book leads up to work stealing.
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
  std::optional<std::size_t> joins{};  // the task that must have ended before the second part can begin
};

enum class sharing {
  static_split,   // dealt out once; a processor does its tasks in their order and blocks at a join
  central_queue,  // one FIFO for all; a task that cannot go on is put aside, and queued again when it can
  own_deques,     // dealt out like static_split; a processor takes from its own tail, or else from another's head
};

/// What the processors do from tick `from` until the next period begins: the name of a task, "(blocked)" or "(idle)".
struct period {
  int from;
  std::vector<std::string> doing{};
  friend bool operator==(const period&, const period&) = default;
};

struct outcome {
  std::vector<period> periods{};
  int end = 0;                      // when the last task was done
  std::vector<int> without_work{};  // for each processor, the ticks in which it was idle or blocked
  int wasted = 0;                   // the ticks without work in which some queue held a task that could have been done
  int shared_accesses = 0;          // to the central queue or to another processor's: processors contend for these
  int own_accesses = 0;             // to the processor's own queue
};

[[nodiscard]] outcome distribute(const std::vector<timed_task>& tasks, sharing how, std::size_t processors);

}  // namespace runq::walkthrough
