// SPDX-License-Identifier: MIT
// A task is made runnable while a machine that has found nothing beside a chain of short tasks dozes, or begins to, or
// stops. A task in a free runnext slot wakes nobody, nor does a fork that is alone, so the machine must see it when it
// looks again; any other task wakes the machine.
#include "vs_last_spinner.hpp"

namespace runq::model {
namespace {

// Two processors, of which machine 0 has one, and is busy for long. Machine 1 looks for work beside a chain of tasks,
// and dozes until it is woken.
template <int Tasks>
struct until_woken : machine_loop_model<2, 2, Tasks> {
  until_woken() {
    this->settle(0);
    this->beside_chain = true;
    this->machines[1].parker.dozes_on = true;
    this->constructed();
  }
};

// Machine 0 puts task 1 into its runnext slot. Machine 1: look, doze, look again, sleep, run the task.
struct next_vs_doze final : vs_last_spinner<> {
  next_vs_doze() { beside_chain = true; }
  void make_runnable() override { (void)parking.submit_next(processors[0].own_queue, tasks.make(1)); }
};

// Two processors, and a task 1 in the runnext slot of machine 0. Machine 0: puts task 2 there, which displaces task 1 ‖
// machine 1, spinning, the last one: look, doze for long, run one of them.
struct displaced_vs_doze final : until_woken<2> {
  displaced_vs_doze() { (void)processors[0].own_queue.push_next(tasks.make(1)); }
  void thread(unsigned index) override {
    if (index == 0) {
      (void)parking.submit_next(processors[0].own_queue, tasks.make(2));
    } else {
      require(run_one(machines[1]) != 0, "the machine left although the scheduler does not stop");
    }
  }
  void finish() override {
    require_all_accounted_for();
    auto others = processors[0].own_queue.drain();
    while (task* const t = others.pop_front()) tasks.run(t);
    tasks.require_all_ran();
  }
};

// Machine 0 makes forks 1 and 2 ‖ machine 1, spinning, the last one: look, doze for long, run one of them.
struct forks_vs_doze final : machine_loop_model<2, 2, 2, shipped_queues<2, fork_deques>> {
  forks_vs_doze() {
    settle(0);
    beside_chain = true;
    machines[1].parker.dozes_on = true;
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      auto& own = processors[0].own_forks;
      for (const int id : {1, 2}) {
        require(own.push(tasks.make(id)), "no memory for a fork");
        parking.forked(own);
      }
    } else {
      require(run_one(machines[1]) != 0, "the machine left although the scheduler does not stop");
    }
  }
  void finish() override {
    require_all_accounted_for();
    while (const auto left = processors[0].own_forks.pop()) tasks.run(*left);
    tasks.require_all_ran();
  }
};

// A thread outside puts task 1 in the global queue.
struct injected_vs_doze final : vs_last_spinner<> {
  injected_vs_doze() { doze_until_woken(); }
  void make_runnable() override {
    global.put(tasks.make(1));
    parking.submitted_in_order();
  }
};

// The scheduler stops ‖ machine 1, spinning: look, doze for long, leave. After that no machine counts as one that
// dozes.
struct stop_vs_doze final : until_woken<1> {
  void thread(unsigned index) override {
    if (index == 0) {
      parking.stop();
    } else {
      require(run_one(machines[1]) == 0, "a machine found a task where there is none");
    }
  }
  void finish() override { require(!parking.somebody_dozes(), "after the end a machine counts as one that dozes"); }
};

const bool added[] = {
    add_case<next_vs_doze>({
        .name = "machine_loop/next_vs_doze",
        .property = "a machine that has dozed sees the task in a runnext slot for which nobody woke it",
        .threads = 2,
        .kept_for = "the task is in a runnext slot, into which it comes without a fence",
    }),
    add_case<displaced_vs_doze>({
        .name = "machine_loop/displaced_vs_doze",
        .property = "a machine that begins to doze sees a task that is displaced from runnext, or is woken for it",
        .threads = 2,
    }),
    add_case<injected_vs_doze>({
        .name = "machine_loop/injected_vs_doze",
        .property = "a machine that begins to doze sees a task in the global queue, or is woken for it",
        .threads = 2,
        .kept_for = "the task is in the global queue",
    }),
    add_case<fork_vs_doze<>>({
        .name = "machine_loop/fork_vs_doze",
        .property = "a machine that has dozed sees the fork that is alone, for which nobody woke it",
        .threads = 2,
        .kept_for = "the task is a fork, which is published with a fence",
    }),
    add_case<forks_vs_doze>({
        .name = "machine_loop/forks_vs_doze",
        .property = "a machine that begins to doze sees a fork that is not alone, or is woken for it",
        .threads = 2,
    }),
    add_case<stop_vs_doze>({
        .name = "machine_loop/stop_vs_doze",
        .property = "the end of the scheduler wakes a machine that dozes",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model
