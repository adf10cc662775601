// SPDX-License-Identifier: MIT
#include "walkthrough/statistics.hpp"

#include <algorithm>

namespace runq::walkthrough {
namespace {

bool waits_in(const row& r, task_id task) {
  return std::any_of(r.begin(), r.end(), [&](const processor& p) {
    return std::any_of(p.stack.begin(), p.stack.end(),
                       [&](const frame& f) { return f.task == task && f.state == frame::phase::waiting; });
  });
}

// Counts the joins that stall in the row `now`: those that wait there and did not wait before. A thread that waits
// takes other work in the same row. A frame above the waiting task that was not stolen came from the thread's own
// deque.
void count_stalls(const row& before, const row& now, statistics& s) {
  for (const processor& p : now) {
    for (std::size_t i = 0; i != p.stack.size(); ++i) {
      if (p.stack[i].state != frame::phase::waiting || waits_in(before, p.stack[i].task)) continue;
      const bool busy = i + 1 != p.stack.size() && !p.stack[i + 1].stolen;
      ++(busy ? s.stalled_while_busy : s.stalled_while_idle);
    }
  }
}

}  // namespace

statistics count(const run& r) {
  statistics s{.steps = r.rows.size()};
  const row* before = &r.rows.front();
  for (const row& now : r.rows) {
    std::size_t together = 0;
    for (const processor& p : now) {
      together += p.deque.size();
      s.longest_deque = std::max(s.longest_deque, p.deque.size());
      s.longest_stack = std::max(s.longest_stack, p.stack.size());
    }
    s.deques_together = std::max(s.deques_together, together);
    count_stalls(*before, now, s);
    before = &now;
  }
  return s;
}

}  // namespace runq::walkthrough
