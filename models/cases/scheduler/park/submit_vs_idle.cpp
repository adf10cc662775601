// SPDX-License-Identifier: MIT
// A task is made runnable, put back, or looked for without need, while machines go idle.
#include "park_model.hpp"

namespace runq::model {
namespace {

// A task is submitted while machines go idle, or are idle: one of them runs it.

// Outside: submit 1 ‖ outside: submit 2, on different queues ‖ two idle machines. Each task goes on until the other has
// begun: so both processors must come to work.
struct two_submitters final : park_model<2, 2, 2> {
  two_submitters() {
    settle(0);
    put_to_sleep(0);
    put_to_sleep(1);
    constructed();
  }
  void thread(unsigned index) override {
    if (index < 2) {
      submit(index == 0 ? global : processors[1].queue, static_cast<int>(index) + 1);
    } else {
      machine& m = machines[index - 2];
      wake_up(m);
      const int id = run_one(m);
      tell(id);
      wait_for(3 - id);
    }
  }
  void finish() override {
    tasks.require_all_ran();
    require_all_accounted_for();
  }
};

// Outside: submit 1 ‖ outside: submit 2. Two machines are idle; one is woken, not both: one spinner is enough.
struct one_waker final : park_model<2, 2, 2> {
  one_waker() {
    settle(0);
    put_to_sleep(0);
    put_to_sleep(1);
    constructed();
  }
  void thread(unsigned index) override {
    submit(index == 0 ? global : processors[1].queue, static_cast<int>(index) + 1);
  }
  void finish() override { require_one_was_woken(); }
};

// Two tasks are queued, each goes on until the other has begun; no machine was woken for the second because one
// was spinning. Machine, spinning: finds one ‖ machine, idle.
struct finder_wakes_another final : park_model<2, 2, 2> {
  finder_wakes_another() {
    settle(0);
    put_to_sleep(0);
    machines[1].held->queue.put(tasks.make(1));
    global.put(tasks.make(2));
    constructed();
  }
  void thread(unsigned index) override {
    machine& m = machines[1 - index];
    if (index == 1) wake_up(m);
    const int id = run_one(m);
    tell(id);
    wait_for(3 - id);
  }
  void finish() override {
    tasks.require_all_ran();
    require_all_accounted_for();
  }
};

// Two processors, one of them idle. Outside: submit ‖ machine, spinning, the last one: while it looks once more it may
// be woken already, and then must not take the other processor. (The sleeping machine, if woken, is left alone.)
struct woken_while_looking final : park_model<2, 2, 1> {
  woken_while_looking() {
    settle(0);
    put_to_sleep(1);
    require(parking.may_spin(machines[0]), "no machine spins, and yet this machine may not spin");
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      submit(global, 1);
    } else {
      require(run_one(machines[0]) == 1, "the machine left although the scheduler does not stop");
    }
  }
  void finish() override {
    tasks.require_all_ran();
    require_all_accounted_for();
  }
};

// Three processors. Machine 0, busy for long: submits task 1 on its own queue, task 2 on the global one ‖ machine 1,
// spinning ‖ machine 2, asleep. Each of the tasks goes on until the other has begun.
struct three_machines final : park_model<3, 3, 2> {
  three_machines() {
    settle(0);
    settle(1);
    put_to_sleep(2);
    require(parking.may_spin(machines[1]), "no machine spins, and yet this machine may not spin");
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      submit(processors[0].queue, 1);
      submit(global, 2);
    } else {
      machine& m = machines[index];
      if (index == 2) wake_up(m);
      const int id = run_one(m);
      tell(id);
      wait_for(3 - id);
    }
  }
  void finish() override {
    tasks.require_all_ran();
    require_all_accounted_for();
  }
};

// A machine takes the newest task of its fork deque to look at it, and puts it back. In between, the task is in no
// queue, while another machine goes to sleep.

// Two processors. Machine 0, busy for long, with task 1 in its deque, which is not the one that it wants ‖ machine 1,
// spinning, the last one: look, rest, run the task.
struct put_back_vs_last_spinner final : park_model<2, 2, 1> {
  put_back_vs_last_spinner() {
    settle(0);
    processors[0].queue.put(tasks.make(1));
    constructed();
  }
  struct owner {
    task* pop_or_null() { return queue.take(); }
    bool push(task* t) {
      queue.put(t);
      return true;
    }
    slots<1>& queue;
  };
  void thread(unsigned index) override {
    if (index == 0) {
      owner mine{processors[0].queue};
      if (task* const newest = mine.pop_or_null()) parking.put_back(mine, newest);
    } else {
      require(run_one(machines[1]) == 1, "the machine left although the scheduler does not stop");
    }
  }
  void finish() override { tasks.require_all_ran(); }
};

// A machine is woken for every idle processor, although there may be no work.

// One processor, whose machine sleeps. Outside: wakes all ‖ outside: submits a task ‖ the machine: runs it, woken by
// one of them or by both.
struct start_all_vs_submit final : park_model<1, 1, 1> {
  start_all_vs_submit() {
    put_to_sleep(0);
    constructed();
  }
  void thread(unsigned index) override {
    machine& m = machines[0];
    if (index == 0) {
      parking.start_all();
    } else if (index == 1) {
      submit(global, 1);
    } else {
      wake_up(m);
      if (run_one(m) == 1) parking.stop();
    }
  }
  void finish() override {
    tasks.require_all_ran();
    require(started == 1, "a machine is started although one sleeps");
  }
};

const bool added[] = {
    add_case<last_spinner<>>({
        .name = "park/submit_vs_last_spinner",
        .property = "no machine sleeps while a task waits: submit ‖ the last spinning machine goes idle",
        .threads = 2,
        .mutants = {{"submit_fence_acq_rel", "park.submit.fence", std::memory_order::acq_rel},
                    {"rest_fence_acq_rel", "park.machine_idle.fence", std::memory_order::acq_rel}},
        .kept_for = "the smallest program",
    }),
    add_case<woken_while_looking>({
        .name = "park/woken_while_looking",
        .property = "a machine that is woken while it looks once more has one processor, not two",
        .threads = 2,
        .kept_for = "one machine must not have two processors",
    }),
    add_case<two_submitters>({
        .name = "park/two_submitters",
        .property = "two tasks run on two idle processors: submit ‖ submit ‖ two idle machines",
        .threads = 4,
        .kept_for = "two submitters meet",
    }),
    add_case<one_waker>({
        .name = "park/one_waker",
        .property = "two submitters wake exactly one of two idle machines",
        .threads = 2,
        .kept_for = "the lock never gives up",
    }),
    add_case<finder_wakes_another>({
        .name = "park/finder_wakes_another",
        .property = "a spinning machine that finds a task wakes a machine for the next one: two tasks, a spinner, an "
                    "idle machine",
        .threads = 2,
        .kept_for = "a spinner wakes the next machine, no submitter",
    }),
    add_case<three_machines>({
        .name = "park/three_machines",
        .property = "two tasks of a busy processor run on two others: submit, submit ‖ spinner ‖ sleeper",
        .threads = 3,
        .kept_for = "three machines meet",
    }),
    add_case<put_back_vs_last_spinner>({
        .name = "park/put_back_vs_last_spinner",
        .property = "no machine sleeps while a task waits that was popped from the fork deque and put back",
        .threads = 2,
    }),
    add_case<start_all_vs_submit>({
        .name = "park/start_all_vs_submit",
        .property = "a task is not forgotten that is submitted while the machine is woken without need",
        .threads = 3,
    }),
};

}  // namespace
}  // namespace runq::model
