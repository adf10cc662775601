// SPDX-License-Identifier: MIT
// A task is destroyed where it waits, while a thread that has just read its frame wakes it.
#include "runq/protocol/task_state.hpp"
#include "scenario.hpp"
#include "waiting.hpp"
#include "waking_policy.hpp"

namespace runq::model {
namespace {

struct frame {
  cell<int> value{0};
};

// A task sleeps. A waker writes to its frame and wakes it ‖ the thread that ends the run waits for the waker, destroys
// the frame, and uses the strand for another task.
struct ends_vs_wake final : scenario {
  ends_vs_wake() {
    state.starts({});
    state.waits(wait_reason::chan_receive);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      waiting.value.set(1);
      state.wakes();
    } else {
      await([this] { return !state.asleep(); });
      require(waiting.value.get() == 1, "the task does not see what its waker has written");
      destroy_frame(waiting);
      state.set(task_status::dead);
    }
  }
  void finish() override {
    require(state.status() == task_status::dead && state.reason() == wait_reason::chan_receive,
            "the status or the reason is not the one that was set last");
  }

  task_state<atomics> state;
  frame& waiting = make_frame<frame>();
};

const bool added[] = {
    add_case<ends_vs_wake>({
        .name = "task_state/ends_vs_wake",
        .property = "a task that ends while it waits is destroyed only after its waker has read it: wake ‖ end",
        .threads = 2,
        .mutants = {{"wakes_relaxed", "task_state.wakes", std::memory_order::relaxed},
                    {"asleep_relaxed", "task_state.asleep", std::memory_order::relaxed}},
    }),
};

}  // namespace
}  // namespace runq::model
