// SPDX-License-Identifier: MIT
// For models of tasks that are destroyed where they wait, because their run has ended: waking a task only makes it
// runnable. Stands in for production's task_waiting (runq/protocol/waiting.hpp) at the end of a run.
#pragma once

#include "atomics.hpp"
#include "runq/protocol/task_state.hpp"
#include "waiting.hpp"

namespace runq::model {

/// What is left of a task when its frame is gone, like production's strand: whether it was woken.
class strand {
 public:
  [[nodiscard]] bool woken() const { return !state_.asleep(); }
  /// Called by the task itself: it does not have to wait, and yields.
  void gives_way() { state_.set(task_status::runnable); }

 private:
  friend struct ending_policy;
  task_state<model::atomics> state_{task_status::waiting};
};

struct ending_policy {
  using atomics = model::atomics;
  using sleeper = strand*;
  static void wake(sleeper g) { g->state_.wakes(); }
  [[nodiscard]] static bool asleep(sleeper g) { return !g->woken(); }
  template <class Condition>
  static void spin_until(Condition&& condition) {
    await(condition);
  }
};

}  // namespace runq::model
