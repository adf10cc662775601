// SPDX-License-Identifier: MIT
// Blocking calls: their ends, their limit, and when the monitor takes a processor.
#include "blocking_model.hpp"
#include "runq/semaphore.hpp"
#include "waking_policy.hpp"

namespace runq::model {
namespace {

// A machine comes back from a blocking call while the monitor takes its processor: every task runs, and no two machines
// hold the processor at the same time. When the monitor hands the processor over, the monitor's thread goes on as the
// machine that is started for it.

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

// The limit of calls without a processor, which is a semaphore. A call takes a unit when the monitor takes its
// processor, or at its beginning if it had to wait for its turn. Its end gives the unit back, once.

using units_type = runq::detail::semaphore_core<waking_policy>;

// A task that waits for its turn to make a call.
class caller final : public sleeping_task {
 public:
  explicit caller(units_type& units) : units_(units) { node_.who.set(this); }
  void start() {
    if (units_.acquire_or_wait(node_)) resume();
  }
  void resume() override {
    units_.arrived(node_);
    has_turn = true;
  }
  bool has_turn = false;

 private:
  units_type& units_;
  runq::detail::units_waiter<waking_policy> node_;
};

// Two processors, one of them idle, and one unit. Machine 0 is in a call, of plain code or not.
struct limited : blocking_model<2, 2, 1> {
  void take_unit() override { units.take(); }
  void give_unit() override { require(units.release(1), "the end of a call gives back a unit that nobody has taken"); }
  void come_back(bool plain_code) {
    machine& m = machines[0];
    be(m);
    const auto how = plain_code ? calling.leave_waiting(call) : calling.leave(call);
    require(how != outcome::lost, "a machine comes back to an idle processor, and does not get it");
    m.held->owned.set(1);
  }
  void in_call(bool has_unit) {
    settle(0);
    put_to_sleep(1);
    block(0, has_unit);
    constructed();
  }
  void require_one_unit() {
    require(units.any() && units.try_acquire(1), "a unit is lost");
    require(!units.any() && !units.try_acquire(1), "there are more units than there were");
  }
  units_type units{1, 1};
};

// The machine comes back ‖ the monitor: may take its processor.
template <bool PlainCode>
struct unit_comes_back final : limited {
  unit_comes_back() { in_call(false); }
  void thread(unsigned index) override { index == 0 ? come_back(PlainCode) : static_cast<void>(look(long_after)); }
  void finish() override { require_one_unit(); }
};

// The call has waited for its turn. The machine comes back ‖ the monitor: may take its processor ‖ a task waits for its
// turn.
template <bool PlainCode>
struct turn_after_a_call final : limited {
  turn_after_a_call() {
    require(units.try_acquire(1), "a new unit is not free");
    in_call(true);
  }
  void thread(unsigned index) override {
    switch (index) {
      case 0: return come_back(PlainCode);
      case 1: return static_cast<void>(look(long_after));
      default: next.start();
    }
  }
  void finish() override {
    require(next.has_turn, "a task waits for its turn although no call is in progress");
    give_unit();
    require_one_unit();
  }
  caller next{units};
};

// When the monitor takes the processor of a machine that it has seen in a call: at once if another machine could use
// the processor, later if none could. And whether a machine is started for it.

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
    add_case<unit_comes_back<false>>({
        .name = "blocking_calls/unit_comes_back",
        .property = "a call whose processor is taken gives one unit back at its end: come back ‖ retake",
        .threads = 2,
    }),
    add_case<unit_comes_back<true>>({
        .name = "blocking_calls/unit_of_a_section_comes_back",
        .property = "plain code that waits for a processor at its end gives one unit back: come back ‖ retake",
        .threads = 2,
    }),
    add_case<turn_after_a_call<false>>({
        .name = "blocking_calls/turn_after_a_call",
        .property = "a task that waits for its turn gets the unit of a call that ends: come back ‖ retake ‖ wait",
        .threads = 3,
    }),
    add_case<turn_after_a_call<true>>({
        .name = "blocking_calls/turn_after_a_call_that_waits",
        .property =
            "a task that waits for its turn gets the unit of a call whose machine waits for a processor at its end",
        .threads = 3,
    }),
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
