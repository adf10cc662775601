// SPDX-License-Identifier: MIT
// A machine without a processor makes a task runnable: one that sleeps in the poller and finds an event there wakes
// itself, one that comes back from a blocking call does not.
#include "park_model.hpp"

namespace runq::model {
namespace {

// Machine 0, idle, in the poller: an event makes task 1 runnable ‖ outside: submit 2 ‖ machine 1, idle. Each task goes
// on until the other has begun: so both processors must come to work.
struct event_vs_submit final : park_model<2, 2, 2> {
  event_vs_submit() {
    settle(0);
    put_to_sleep(0);
    put_to_sleep(1);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 2) return submit(processors[1].queue, 2);
    machine& m = machines[index];
    be(m);
    if (index == 0) submit(global, 1);
    wake_up(m);
    const int id = run_one(m);
    tell(id);
    wait_for(3 - id);
  }
  void finish() override {
    tasks.require_all_ran();
    require_all_accounted_for();
  }
};

// One processor. Machine, idle, in the poller: an event makes a task runnable ‖ outside: stop.
struct event_vs_stop final : park_model<1, 1, 1> {
  event_vs_stop() {
    put_to_sleep(0);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 1) return parking.stop();
    machine& m = machines[0];
    be(m);
    submit(global, 1);
    wake_up(m);
    while (run_one(m) != 0) continue;
  }
  void finish() override {
    if (task* const t = global.take()) tasks.run(t);
    tasks.require_all_ran();
    require(parking.spinning() == 0, "a machine still spins in a scheduler that has stopped");
  }
};

// One processor, idle. Machine 0, back from a blocking call without one: queues its task, and sleeps ‖ machine 1, idle:
// runs it, and stops the scheduler.
struct queued_after_call final : park_model<2, 1, 1> {
  queued_after_call() {
    settle(0);
    take_from(0, true);
    require(parking.come_back() == nullptr, "the model says that a processor is idle, but none is");
    put_to_sleep(1);
    constructed();
  }
  void thread(unsigned index) override {
    machine& m = machines[index];
    if (index == 0) {
      be(m);
      submit(global, 1);
      require(run_one(m) == 0, "the task of a machine without a processor is run by that machine");
    } else {
      wake_up(m);
      require(run_one(m) == 1, "the machine left although the scheduler does not stop");
      parking.stop();
    }
  }
  void finish() override { tasks.require_all_ran(); }
};

const bool added[] = {
    add_case<event_vs_submit>({
        .name = "park/event_vs_submit",
        .property =
            "a machine that finds an event in the poller runs tasks itself; another submitter wakes another machine",
        .threads = 3,
        .kept_for = "the task comes from the poller",
    }),
    add_case<event_vs_stop>({
        .name = "park/event_vs_stop",
        .property = "a machine that finds an event in the poller while the scheduler stops leaves",
        .threads = 2,
        .kept_for = "the machine comes from the poller",
    }),
    add_case<queued_after_call>({
        .name = "park/queued_after_call",
        .property = "a machine that has lost its processor in a blocking call wakes one of the idle ones, not itself",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model
