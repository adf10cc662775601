// SPDX-License-Identifier: MIT
// A timer is due, or will be, when a machine has no task: the machine fires it, or leaves it to the machine that sleeps
// in the poller. That sleep is in models/cases/scheduler/poll_sleep/; here a machine that sleeps wakes only by its
// token.
#include "machine_loop_model.hpp"
#include "runq/protocol/poll_sleep.hpp"

namespace runq::model {
namespace {

// Machine 0 is busy for long, and its processor has a timer that wakes task 1. Machine 1 looks for work.
struct with_timer : machine_loop_model<2, 2, 1> {
  with_timer() {
    settle(0);
    tasks_stay = true;
  }
  [[nodiscard]] bool timers_due() const override {
    require(++asked_ != 5, "a machine asks again and again for a timer, and does not fire it");
    return due.load(std::memory_order::acquire) != 0;
  }
  [[nodiscard]] bool fire_due_timers() override { return fire(1); }
  // On the thread of machine i: the task is the next one of its processor.
  bool fire(unsigned i) {
    if (due.exchange(0, std::memory_order::acq_rel) == 0) return false;
    (void)parking.submit_next(machines[i].held->own_queue, tasks.make(1));
    return true;
  }
  void expect_task(int id) { require(run_one(machines[1]) == id, "the machine left, or runs another task"); }
  void finish() override {
    tasks.require_all_ran();
    require_all_accounted_for();
  }

  atomic<int> due{0};  // 1: the timer is due, and has not been fired

 private:
  mutable int asked_ = 0;  // by machine 1
};

// Machine 0: adds the timer, which is due at once, and wakes a machine if nobody polls ‖ machine 1, spinning, the last
// one: look, rest, fire it, run the task.
struct timer_vs_last_spinner final : with_timer {
  timer_vs_last_spinner() { constructed(); }
  void thread(unsigned index) override {
    if (index == 1) return expect_task(1);
    due.store(1, std::memory_order::release);
    if (sleeping.timer_added(1)) parking.submitted();
  }
  void ring() { require(false, "a machine is called from the poller, where none is"); }

  poll_sleep<machine_parker, timer_vs_last_spinner, atomics> sleeping{*this};  // no machine sleeps there
};

// Machine 0 looks at its timers between two tasks, and fires the one that is due ‖ machine 1, spinning: fires it, or
// takes the task.
struct timer_of_a_busy_processor final : with_timer {
  timer_of_a_busy_processor() {
    due.store(1, std::memory_order::relaxed);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 1) return expect_task(1);
    (void)fire(0);
  }
};

// One processor, with a timer that is due, or a descriptor that is ready, which wakes task 1. Outside: puts task 2 in
// the global queue ‖ the machine: runs both.
struct polls_before_it_sleeps final : machine_loop_model<1, 1, 2> {
  polls_before_it_sleeps() {
    tasks_stay = true;
    constructed();
  }
  [[nodiscard]] bool poll_now(processor& p) override {
    if (polled) return false;
    polled = true;
    (void)parking.submit_next(p.own_queue, tasks.make(1));
    return true;
  }
  void thread(unsigned index) override {
    if (index == 0) {
      global.put(tasks.make(2));
      parking.submitted_in_order();
      return;
    }
    const int first = run_one(machines[0]);
    const int second = run_one(machines[0]);
    require(first + second == 3, "the machine left although the scheduler does not stop");
  }
  void finish() override {
    tasks.require_all_ran();
    require_all_accounted_for();
    require(processors[0].polls.get() == 1, "the polls that gave the processor a task are miscounted");
  }

  bool polled = false;  // by the machine
};

// Machine 0 runs a chain of tasks. Machine 1 dozes beside it, and then has a reason to get up.
template <int Tasks>
struct dozing : machine_loop_model<2, 2, Tasks> {
  dozing() {
    this->settle(0);
    this->beside_chain = true;
    this->tasks_stay = true;
    this->machines[1].parker.chain = &this->processors[0].dispatches.seen;
    this->machines[1].parker.may_doze = 1;
    this->constructed();
  }
};

// Machine 1 dozes beside the chain, which ends when a timer is due, which the machine in the poller would fire, too.
// Outside: puts task 2 in the global queue ‖ machine 1: fires the timer, and runs both tasks.
struct due_during_a_doze final : dozing<2> {
  [[nodiscard]] bool timers_due() const override { return machines[1].parker.dozes != 0 && !fired; }
  [[nodiscard]] bool fire_due_timers() override {
    if (!timers_due()) return false;
    fired = true;
    machines[1].parker.chain = nullptr;
    machines[1].parker.may_doze = -1;
    (void)parking.submit_next(machines[1].held->own_queue, tasks.make(1));
    return true;
  }
  void thread(unsigned index) override {
    if (index == 0) {
      global.put(tasks.make(2));
      parking.submitted_in_order();
      return;
    }
    const int first = run_one(machines[1]);
    require(first != 0, "the machine left although the scheduler does not stop");
    if (fired) require(run_one(machines[1]) == 3 - first, "the machine left, or runs a task again");
  }
  void finish() override {
    if (fired) tasks.require_all_ran();
    require_all_accounted_for();
  }

  bool fired = false;  // by machine 1
};

// There is something to poll for. Outside: puts task 1 in the global queue ‖ machine 1: dozes beside a chain of tasks,
// or goes to sleep, where it would poll, and is woken.
struct something_to_poll : dozing<1> {
  [[nodiscard]] bool unwatched() const override { return true; }
  void thread(unsigned index) override {
    if (index == 0) {
      global.put(tasks.make(1));
      parking.submitted_in_order();
    } else {
      require(run_one(machines[1]) == 1, "the machine left although the scheduler does not stop");
    }
  }
  void finish() override {
    tasks.require_all_ran();
    require_all_accounted_for();
  }
};

// No machine sleeps in the poller any more from the moment on at which machine 1 has dozed.
struct nobody_polls final : something_to_poll {
  [[nodiscard]] bool unwatched() const override { return machines[1].parker.dozes != 0; }
};

// While machine 1 looks around, the chain gets its tasks by polling; when it has dozed, no more.
struct others_poll final : something_to_poll {
  others_poll() { beside_polls = true; }
  [[nodiscard]] bool unwatched() const override {
    ++asked_;
    return true;
  }
  void finish() override {
    something_to_poll::finish();
    require(machines[1].parker.sleeps == 0 || asked_ > 1,
            "a machine sleeps in the poller at once beside others that poll");
  }

 private:
  mutable int asked_ = 0;  // by machine 1: before it gives up its processor, and whenever it is about to doze
};

// The same, and there are timers, which only a machine in the poller waits for.
struct others_poll_beside_timers final : something_to_poll {
  others_poll_beside_timers() {
    beside_polls = true;
    machines[1].parker.may_doze = 0;
  }
  [[nodiscard]] bool timers_pending() const override { return true; }
};

// A processor got a task by polling before machine 1 began to look.
struct others_have_polled final : something_to_poll {
  others_have_polled() {
    ++processors[0].polls;
    machines[1].parker.may_doze = 0;
  }
};

const bool added[] = {
    add_case<timer_vs_last_spinner>({
        .name = "machine_loop/timer_vs_last_spinner",
        .property = "no machine sleeps beside a timer that is due: add, fence ‖ the last spinning machine goes idle",
        .threads = 2,
    }),
    add_case<timer_of_a_busy_processor>({
        .name = "machine_loop/timer_of_a_busy_processor",
        .property = "a machine that looks for work fires the timers of a processor whose machine is busy",
        .threads = 2,
        .kept_for = "the timer belongs to a processor whose machine is busy",
    }),
    add_case<polls_before_it_sleeps>({
        .name = "machine_loop/polls_before_it_sleeps",
        .property = "a machine without tasks fires its own timers, and polls, before it gives its processor up",
        .threads = 2,
    }),
    add_case<due_during_a_doze>({
        .name = "machine_loop/due_during_a_doze",
        .property = "a machine that dozes gets up for a timer that is due",
        .threads = 2,
    }),
    add_case<nobody_polls>({
        .name = "machine_loop/nobody_polls_any_more",
        .property = "a machine that dozes gets up when there is something to poll for and no machine polls",
        .threads = 2,
        .kept_for = "a machine was in the poller when it began to doze",
    }),
    add_case<others_poll>({
        .name = "machine_loop/others_poll",
        .property = "a machine leaves the poller to processors that get their tasks there, and only as long as they do",
        .threads = 2,
    }),
    add_case<others_poll_beside_timers>({
        .name = "machine_loop/others_poll_beside_timers",
        .property = "a machine that finds nothing waits for timers in the poller, although other machines poll",
        .threads = 2,
    }),
    add_case<others_have_polled>({
        .name = "machine_loop/others_have_polled",
        .property = "a machine does not leave the poller to others that have polled before it began to look for work",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model
