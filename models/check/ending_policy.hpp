// SPDX-License-Identifier: MIT
// Tasks that are destroyed where they wait, because their run has ended: who wakes one makes it runnable, and that is
// all that happens to it. What task_waiting (runq/protocol/waiting.hpp) is for the end of a run.
#pragma once

#include "atomics.hpp"
#include "waiting.hpp"

namespace runq::model {

/// What stays of a task when its frame is gone, as the goroutine of production: whether it was woken.
class record {
 public:
  [[nodiscard]] bool woken() const { return woken_.load(std::memory_order::acquire) != 0; }
  /// By the task itself: it does not have to wait, and gives way.
  void gives_way() { woken_.store(1, std::memory_order::relaxed); }

 private:
  friend struct ending_policy;
  atomic<int> woken_{0};
};

struct ending_policy {
  using atomics = model::atomics;
  using sleeper = record*;
  static void wake(sleeper g) { g->woken_.store(1, std::memory_order::release); }
  [[nodiscard]] static bool asleep(sleeper g) { return !g->woken(); }
  template <class Condition>
  static void spin_until(Condition&& condition) {
    await(condition);
  }
};

}  // namespace runq::model
