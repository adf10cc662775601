// SPDX-License-Identifier: MIT
// A machine comes back from a blocking call while the monitor takes its processor: every task runs, and no two machines
// hold the processor at the same time. When the monitor hands the processor over, the monitor's thread goes on as the
// machine that is started for it.
#include "blocking_model.hpp"

namespace runq::model {
namespace {

// One processor. Machine 0 is in a call of task 2, and has task 1 next on its processor. Machine 0: comes back ‖ the
// monitor: takes the processor, or not. The machine that runs the second of the tasks stops the scheduler.
struct leave_vs_retake final : blocking_model<2, 1, 2> {
  leave_vs_retake() {
    settle(0);
    (void)processors[0].own_queue.push_next(tasks.make(1));
    block(0);
    constructed();
  }
  void thread(unsigned index) override {
    machine& m = machines[index];
    if (index == 0) {
      be(m);
      come_back(m, tasks.make(2));
    } else if (look(0)) {
      require(m.held == &processors[0], "a processor with a task is taken, and no machine is started for it");
    } else {
      return;
    }
    while (run_one(m) != 0) count();
  }
  void come_back(machine& m, task* mine) {
    if (calling.leave(call) == outcome::lost) return calling.queue(*mine);
    m.held->owned.set(1);
    tasks.run(mine);
    count();
  }
  void count() {
    if (done.fetch_add(1, std::memory_order::acq_rel) == 1) parking.stop();
  }
  void finish() override { tasks.require_all_ran(); }

  atomic<int> done{0};
};

// Two processors, one of them idle. Machine 0, in a long call: comes back ‖ the monitor: may take the processor, which
// no machine needs. Machine 0 gets a processor in either case, and goes on.
struct processor_made_idle final : blocking_model<2, 2, 1> {
  processor_made_idle() {
    settle(0);
    put_to_sleep(1);
    block(0);
    constructed();
  }
  void thread(unsigned index) override {
    if (index != 0) {
      (void)look(long_after);
      return;
    }
    be(machines[0]);
    require(calling.leave(call) != outcome::lost, "a machine comes back to an idle processor, and does not get it");
    machines[0].held->owned.set(1);
  }
  void finish() override { require_all_accounted_for(); }
};

// One processor. Machine 0, in a section of plain code: comes back ‖ the monitor: may take the processor, and then a
// machine is started for it; then the scheduler stops. The end of the section gets a processor in either case.
struct waits_while_stopping final : blocking_model<2, 1, 1> {
  waits_while_stopping() {
    settle(0);
    block(0);
    constructed();
  }
  void thread(unsigned index) override {
    machine& m = machines[index];
    if (index == 0) {
      be(m);
      (void)calling.leave_waiting(call);
      require(m.held != nullptr, "a section ends, and its machine has no processor");
    } else {
      (void)look(0);
      parking.stop();
    }
    if (m.held != nullptr) m.held->owned.set(1);
  }
};

// Machine 0: comes back from the call that the monitor has seen, and makes another one ‖ the monitor: takes the
// processor for the first one, or not at all.
struct second_call final : blocking_model<2, 1, 1> {
  second_call() {
    settle(0);
    block(0);
    constructed();
  }
  void thread(unsigned index) override {
    if (index != 0) {
      (void)look(0);
      return;
    }
    machine& m = machines[0];
    be(m);
    if (calling.leave(call) != outcome::kept) return;
    const auto second = calling.enter(m);
    require(calling.leave(second) == outcome::kept, "a processor is taken for a call that the monitor has not seen");
  }
};

const bool added[] = {
    add_case<leave_vs_retake>({
        .name = "blocking_calls/leave_vs_retake",
        .property = "the task that made a call, and a task that waits on its processor, are run: come back ‖ retake",
        .threads = 2,
    }),
    add_case<processor_made_idle>({
        .name = "blocking_calls/processor_made_idle",
        .property =
            "a machine that comes back while its processor is made idle gets one, and goes on: come back ‖ retake",
        .threads = 2,
    }),
    add_case<waits_while_stopping>({
        .name = "blocking_calls/waits_while_stopping",
        .property =
            "a blocking section that ends has a processor that no other machine has: come back, waiting ‖ retake, stop",
        .threads = 2,
    }),
    add_case<second_call>({
        .name = "blocking_calls/second_call",
        .property = "the monitor takes a processor for the call that it saw, and for no later one: two calls ‖ retake",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model
