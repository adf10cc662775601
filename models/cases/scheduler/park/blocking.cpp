// SPDX-License-Identifier: MIT
// Machines that have no processor: they come back from blocking calls, find events in the poller, and leave.
#include "../blocking_calls/blocking_model.hpp"
#include "park_model.hpp"

namespace runq::model {
namespace {

// A machine comes back from a blocking call and has lost its processor. It gets one, whatever machine holds it or gives
// it up.

// Machine 0 comes back from a call with its processor ‖ the monitor takes the processor, because no machine needs it.
struct return_vs_retake final : blocking_model<1, 1, 1, slot_queues<1>> {
  // Machine 0 still counts as spinning, because settle() was not called: so no request is pending.
  return_vs_retake() {
    block(0);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      be(machines[0]);
      (void)calling.leave_waiting(call);
      require(machines[0].held != nullptr, "the machine has no processor although the scheduler does not stop");
    } else {
      (void)look(long_after);
    }
  }
  void finish() override { require_all_accounted_for(); }
};

// Machine 1 has the processor that machine 0 lost, and is in a call itself, which does not end. Machine 0 comes back ‖
// the monitor takes the processor from machine 1, because no machine seems to need it.
struct return_vs_retake_from_another final : park_model<2, 1, 1> {
  // Machine 0 still counts as spinning, as above.
  return_vs_retake_from_another() {
    take_from(0, true);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      be(machines[0]);
      give(machines[0], parking.come_back_waiting(machines[0]));
      require(machines[0].held != nullptr, "the machine has no processor although the scheduler does not stop");
    } else {
      take_from(1, false);
    }
  }
};

// Machine 1 has the processor that machine 0 lost, and runs out of work ‖ machine 0 comes back, does what is left to
// do, and stops the scheduler.
struct return_vs_idle final : park_model<2, 1, 1> {
  return_vs_idle() {
    settle(0);
    take_from(0, true);
    parking.found(machines[1]);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      be(machines[0]);
      give(machines[0], parking.come_back_waiting(machines[0]));
      require(machines[0].held != nullptr, "the machine has no processor although the scheduler does not stop");
      parking.stop();
    } else {
      require(run_one(machines[1]) == 0, "a task is run that was never made");
    }
  }
};

// Machine 0 comes back ‖ the scheduler stops ‖ machine 1, which has the only processor, leaves.
struct return_vs_stop final : park_model<2, 1, 1> {
  return_vs_stop() {
    settle(0);
    take_from(0, true);
    parking.found(machines[1]);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      (void)parking.come_back_waiting(machines[0]);
    } else {
      parking.stop();
    }
  }
};

// Machine 0 comes back, and stops the scheduler when it has a processor; machine 1 has the first one, and goes on with
// something long ‖ a second processor is added, and the machine that is started for it finds nothing to do.
struct return_vs_grow final : park_model<3, 2, 1> {
  return_vs_grow() {
    parking.resize(1);
    settle(0);
    take_from(0, true);
    parking.found(machines[1]);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      be(machines[0]);
      give(machines[0], parking.come_back_waiting(machines[0]));
      require(machines[0].held != nullptr, "the machine has no processor although the scheduler does not stop");
      parking.stop();
    } else {
      parking.resize(2);
      if (machines[2].held != nullptr) run_one(machines[2]);
    }
  }
};

// Machine 1 has the processor that machine 0 lost. Machine 0 comes back, queues its task, and sleeps ‖ machine 1 runs
// out of work. The task runs, and then waits for ever. A machine that sleeps leaves, so the model ends.
struct return_vs_deadlock final : blocking_model<3, 1, 1> {
  return_vs_deadlock() {
    kept = 0;
    settle(0);
    block(0);
    require(look(0), "a processor is not taken although no machine looks for work");
    constructed();
  }
  void check_deadlock() override {
    if (parking.without_processor() != 0 || global.has_work_approx()) return;
    require(ran.get(), "a deadlock is reported while a task is about to be queued");
    reported = true;
  }
  void thread(unsigned index) override {
    if (index == 0) {
      be(machines[0]);
      come_back(tasks.make(1));
      if (machines[2].held != nullptr) work_and_leave(machines[2]);
      work_and_leave(machines[0]);
    } else {
      work_and_leave(machines[1]);
    }
  }
  void come_back(task* mine) {
    if (calling.leave(call) == outcome::lost) return calling.queue(*mine);
    tasks.run(mine);
    ran.set(true);
  }
  void work_and_leave(machine& m) {
    while (run_one(m) != 0) ran.set(true);
  }
  void finish() override {
    tasks.require_all_ran();
    require(reported, "no thread has reported the deadlock");
  }

  cell<bool> ran{false};
  bool reported = false;
};

// A machine without a processor makes a task runnable: one that sleeps in the poller and finds an event there wakes
// itself, one that comes back from a blocking call does not.

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

// A surplus machine that has slept for long leaves, unless another thread wakes it at that moment.

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
    add_case<return_vs_deadlock>({
        .name = "park/return_vs_deadlock",
        .property = "a deadlock is reported after a machine has queued the task of its call, and not before",
        .threads = 2,
    }),
    add_case<return_vs_retake>({
        .name = "park/return_vs_retake",
        .property = "a machine that comes back from a call keeps its processor, or gets it back from the monitor",
        .threads = 2,
        .kept_for = "the monitor may have the processor",
    }),
    add_case<return_vs_retake_from_another>({
        .name = "park/return_vs_retake_from_another",
        .property = "a machine that comes back gets the processor that the monitor takes from another one",
        .threads = 2,
    }),
    add_case<return_vs_idle>({
        .name = "park/return_vs_idle",
        .property = "a machine that waits for a processor gets it when another gives one up, or asks before its next "
                    "task whether one waits",
        .threads = 2,
        .kept_for = "another machine gives its processor up",
    }),
    add_case<return_vs_stop>({
        .name = "park/return_vs_stop",
        .property = "a machine that comes back while the scheduler stops does not wait for ever",
        .threads = 2,
    }),
    add_case<return_vs_grow>({
        .name = "park/return_vs_grow",
        .property = "a machine that comes back gets a processor that is added",
        .threads = 2,
        .kept_for = "a processor is added",
    }),
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
    add_case<leave_vs_submit>({
        .name = "park/leave_vs_submit",
        .property = "a machine that leaves takes no task with it, and nobody wakes it then: leave ‖ submit",
        .threads = 3,
        .kept_for = "the task comes from a thread outside",
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
