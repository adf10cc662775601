// SPDX-License-Identifier: MIT
// A surplus machine that has slept for long leaves, unless another thread wakes it at that moment.
#include "park_model.hpp"

namespace runq::model {
namespace {

// One processor, and one idle machine that is kept. Machine 0, back from a blocking call without a processor: sleeps,
// and may leave ‖ machine 1, idle ‖ outside: submit. One of the two runs the task, and stops the scheduler.
struct leave_vs_submit final : park_model<2, 1, 1> {
  leave_vs_submit() {
    kept = 1;
    settle(0);
    take_from(0, true);
    require(parking.come_back() == nullptr, "the model says that a processor is idle, but none is");
    put_to_sleep(1);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 2) return submit(global, 1);
    machine& m = machines[index];
    be(m);
    m.held = nullptr;
    if (index == 1 && !wake_up(m)) return;
    while (run_one(m) != 0) parking.stop();
  }
  void finish() override {
    tasks.require_all_ran();
    require(parking.idle_machines() == 0, "a machine that has left, or was woken, counts as idle");
  }
};

// The same machine: sleeps, and may leave ‖ the scheduler stops.
struct leave_vs_stop final : park_model<2, 1, 1> {
  leave_vs_stop() {
    kept = 0;
    settle(0);
    take_from(0, true);
    require(parking.come_back() == nullptr, "the model says that a processor is idle, but none is");
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 1) return parking.stop();
    be(machines[0]);
    machines[0].held = nullptr;
    require(run_one(machines[0]) == 0, "a machine found a task where there is none");
  }
  void finish() override { require(parking.idle_machines() == 0, "a machine that has left counts as idle"); }
};

const bool added[] = {
    add_case<leave_vs_submit>({
        .name = "park/leave_vs_submit",
        .property = "a machine that leaves takes no task with it, and nobody wakes it then: leave ‖ submit",
        .threads = 3,
    }),
    add_case<leave_vs_stop>({
        .name = "park/leave_vs_stop",
        .property = "a machine that leaves while the scheduler stops ends once",
        .threads = 2,
        .kept_for = "the scheduler stops",
    }),
};

}  // namespace
}  // namespace runq::model
