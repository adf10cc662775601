// SPDX-License-Identifier: MIT
// When the monitor takes the processor of a machine that it has seen in a call: at once if another machine could use
// the processor, later if none could. And whether a machine is started for it.
#include "blocking_model.hpp"

namespace runq::model {
namespace {

enum class where : unsigned char { next, fork, yielded, global };

// Machine 0 is in a call, a machine counts as spinning, and task 1 waits. The monitor: takes the processor, and goes on
// as the machine that is started for it, which runs the task ‖ machine 0: comes back after that, and gets no processor.
template <where Task>
struct work_waits final : blocking_model<2, 1, 1, shipped_queues<2, fork_deques, yields>> {
  work_waits() {
    task* const t = tasks.make(1);
    switch (Task) {
      case where::next: (void)processors[0].own_queue.push_next(t); break;
      case where::fork: require(processors[0].own_forks.push(t), "no memory for a fork"); break;
      case where::yielded: require(processors[0].own_yielded.push(t), "no room for a task"); break;
      case where::global: global.put(t); break;
    }
    block(0);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      require(look(0), "a processor is left to a call although a task waits for it");
      require(machines[1].held != nullptr, "a processor is taken for a task, and no machine is started for it");
      tell(run_one(machines[1]));
    } else {
      wait_for(1);
      be(machines[0]);
      require(calling.leave(call) == outcome::lost, "a machine comes back to a processor that another one has");
    }
  }
  void finish() override { tasks.require_all_ran(); }
};

// One processor. Machine 0 has lost it in a call. Machine 1, which counts as spinning, holds it, and is in a call, too.
// Machine 0: comes back, and waits ‖ the monitor: once machine 0 waits, takes the processor from machine 1 for it.
struct returned_machine_waits final : blocking_model<2, 1, 1> {
  returned_machine_waits() {
    first = calling.enter(machines[0]);
    require(processors[0].in_call.retake(first.ticket),
            "the monitor could not take a processor although its machine is in a call");
    parking.hand_off(
        processors[0], [] { return true; }, true);
    block(1);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      be(machines[0]);
      require(calling.leave_waiting(first) == outcome::moved, "a machine has kept a processor that was taken");
      machines[0].held->owned.set(1);
    } else {
      await([this] { return parking.somebody_returns(); });
      require(look(0), "a processor is left to a call although a machine waits for it");
    }
  }
  calls::call first{};
};

// Machine 0 is in a call, a machine counts as spinning, and there is no task. The monitor: takes the processor once the
// call has lasted for long. If no machine polls, it starts a machine that will; otherwise the processor becomes idle ‖
// machine 0: comes back after that.
template <bool Polled>
struct nothing_to_do final : blocking_model<2, 1, 1> {
  nothing_to_do() {
    nobody_polls = !Polled;
    block(0);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      require(!look(0), "a processor that no machine could use is taken at once");
      require(look(long_after), "a processor is left to a call for ever");
      require((machines[1].held == nullptr) == Polled,
              "a machine is started for nothing, or none although no machine polls");
      tell(1);
    } else {
      wait_for(1);
      be(machines[0]);
      require(calling.leave(call) == (Polled ? outcome::moved : outcome::lost),
              "an idle processor, or none, is missed");
    }
  }
};

// Machine 0 is in a call, no machine spins, and no processor is idle that one could be woken for. The monitor: takes
// the processor at once, for a machine that then looks for work ‖ that machine, asleep.
struct no_machine_looks final : blocking_model<2, 2, 1> {
  no_machine_looks() {
    settle(0);
    put_to_sleep(1);
    parking.resize(1);
    require(parking.idle_processors() == 0 && parking.spinning() == 0 && !parking.need_spinning(),
            "a machine looks for work before the call");
    block(0);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      require(look(0), "a processor is left to a call although no machine looks for work");
    } else {
      require(wake_up(machines[1]) && machines[1].spinning.get(), "a machine is woken, and does not look for work");
    }
  }
};

const bool added[] = {
    add_case<work_waits<where::next>>({
        .name = "blocking_calls/task_in_runnext_waits",
        .property = "the monitor takes the processor of a call at once if a task waits in its runnext",
        .threads = 2,
    }),
    add_case<work_waits<where::fork>>({
        .name = "blocking_calls/fork_waits",
        .property = "the monitor takes the processor of a call at once if a fork waits on it",
        .threads = 2,
    }),
    add_case<work_waits<where::yielded>>({
        .name = "blocking_calls/yielded_task_waits",
        .property = "the monitor takes the processor of a call at once if a task that has yielded waits on it",
        .threads = 2,
    }),
    add_case<work_waits<where::global>>({
        .name = "blocking_calls/task_in_global_queue_waits",
        .property = "the monitor takes the processor of a call at once if a task waits in the global queue",
        .threads = 2,
    }),
    add_case<returned_machine_waits>({
        .name = "blocking_calls/returned_machine_waits",
        .property = "the monitor takes the processor of a call at once for a machine that came back and waits for one",
        .threads = 2,
    }),
    add_case<nothing_to_do<true>>({
        .name = "blocking_calls/nothing_to_do",
        .property = "with nothing to do the monitor takes the processor only after a long call, and makes it idle",
        .threads = 2,
    }),
    add_case<nothing_to_do<false>>({
        .name = "blocking_calls/nobody_polls",
        .property = "after a long call the monitor starts a machine that polls, if none does",
        .threads = 2,
    }),
    add_case<no_machine_looks>({
        .name = "blocking_calls/no_machine_looks",
        .property =
            "the monitor takes the processor of a call at once if no machine looks for work, and wakes one that does",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model
