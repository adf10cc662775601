// SPDX-License-Identifier: MIT
// A fork (in_order.cpp, doze.cpp), and a task that yields (yields.cpp), while the last spinning machine goes idle, or
// dozes; and both with fences by interrupt (by_interrupt.cpp).
#pragma once

#include "machine_loop_model.hpp"

namespace runq::model {

// Two processors. Machine 0, busy for long: forks task 1, which is published with a fence ‖ machine 1, spinning, the
// last one: look, rest, run the task. `Policy` is park's and that of the fork deques.
template <class Forks = fork_deques, class Policy = typename Forks::atomics, class Queues = shipped_queues<2, Forks>>
struct fork_vs_last_spinner : machine_loop_model<2, 2, 1, Queues, Policy> {
  fork_vs_last_spinner() {
    this->settle(0);
    this->constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      require(this->processors[0].own_forks.push(this->tasks.make(1)), "no memory for a fork");
      this->parking.submitted();
    } else {
      require(this->run_one(this->machines[1]) == 1, "the machine left although the scheduler does not stop");
    }
  }
  void finish() override {
    this->tasks.require_all_ran();
    this->require_all_accounted_for();
  }
};

// The same, but machine 1 dozes, until it is woken.
template <class Forks = fork_deques>
struct fork_vs_doze : fork_vs_last_spinner<Forks> {
  fork_vs_doze() {
    this->beside_chain = true;
    this->machines[1].parker.dozes_on = true;
  }
};

// Two processors. Machine 0: its task 1 yields, and it is busy with another task for long ‖ machine 1, spinning, the
// last one: look, rest, run task 1. Or machine 1 dozes, until it is woken.
template <bool Dozes, class Policy = atomics>
struct yield_vs_last_spinner : machine_loop_model<2, 2, 1, queues_for_yields, Policy> {
  yield_vs_last_spinner() {
    this->settle(0);
    this->beside_chain = Dozes;
    this->machines[1].parker.dozes_on = Dozes;
    this->constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      this->looping.yield(this->processors[0], this->tasks.make(1));
    } else {
      require(this->run_one(this->machines[1]) == 1, "the machine left although the scheduler does not stop");
    }
  }
  void finish() override {
    this->tasks.require_all_ran();
    this->require_all_accounted_for();
  }
};

}  // namespace runq::model
