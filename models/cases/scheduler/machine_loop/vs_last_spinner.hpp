// SPDX-License-Identifier: MIT
// A task is made runnable while the last spinning machine goes idle, or dozes. A fork and a task that yields also with
// fences by interrupt (by_interrupt.cpp).
#pragma once

#include "machine_loop_model.hpp"

namespace runq::model {

// Two processors. Machine 0, busy for long, or a thread outside: makes task 1 runnable ‖ machine 1, spinning, the last
// one: look, rest, run the task.
template <class Queues = shipped_queues<>, class Policy = atomics>
struct vs_last_spinner : machine_loop_model<2, 2, 1, Queues, Policy> {
  vs_last_spinner() {
    this->settle(0);
    this->constructed();
  }
  virtual void make_runnable() = 0;
  void thread(unsigned index) override {
    if (index == 0) {
      make_runnable();
    } else {
      require(this->run_one(this->machines[1]) == 1, "the machine left although the scheduler does not stop");
    }
  }
  void finish() override {
    this->tasks.require_all_ran();
    this->require_all_accounted_for();
  }
  // Beside a chain of tasks machine 1 dozes, until it is woken.
  void doze_until_woken() {
    this->beside_chain = true;
    this->machines[1].parker.dozes_on = true;
  }
};

// Machine 0 forks task 1, which is published with a fence. `Policy` is park's and that of the fork deques.
template <class Forks = fork_deques, class Policy = typename Forks::atomics, class Queues = shipped_queues<2, Forks>>
struct fork_vs_last_spinner : vs_last_spinner<Queues, Policy> {
  void make_runnable() override {
    require(this->processors[0].own_forks.push(this->tasks.make(1)), "no memory for a fork");
    this->parking.forked(this->processors[0].own_forks);
  }
};

// Machine 1: look, doze, look again, sleep, run the fork, which is alone.
template <class Forks = fork_deques>
struct fork_vs_doze : fork_vs_last_spinner<Forks> {
  fork_vs_doze() { this->beside_chain = true; }
};

// Task 1 of machine 0 yields, and the machine is busy with another task for long.
template <bool Dozes, class Policy = atomics>
struct yield_vs_last_spinner : vs_last_spinner<queues_for_yields, Policy> {
  yield_vs_last_spinner() {
    if (Dozes) this->doze_until_woken();
  }
  void make_runnable() override { this->looping.yield(this->processors[0], this->tasks.make(1)); }
};

}  // namespace runq::model
