// SPDX-License-Identifier: MIT
// A task yields while the last spinning machine goes idle, or dozes: see yields.cpp and by_interrupt.cpp.
#pragma once

#include "machine_loop_model.hpp"

namespace runq::model {

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
