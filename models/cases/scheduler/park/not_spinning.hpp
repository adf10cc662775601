// SPDX-License-Identifier: MIT
// Two machines, of which one gives up its processor without a last look at all queues: see need_spinning.cpp.
#pragma once

#include "park_model.hpp"

namespace runq::model {

// Two processors. Machine 0 spins, machine 1 has just ended a task and may not spin as long as 0 does. Task 1, from
// outside, is for whichever machine comes first. That machine submits task 2 on its own processor and waits for it, so
// the other machine must run task 2.
template <class Parking = atomics>
struct not_spinning final : park_model<2, 2, 2, 1, Parking> {
  not_spinning() {
    this->settle(0);
    this->settle(1);
    // Machine 0 has ended its task, too, and looked again.
    require(this->parking.may_spin(this->machines[0]), "no machine spins, and yet this machine may not spin");
    this->global.put(this->tasks.make(1));
    this->constructed();
  }
  void thread(unsigned index) override {
    auto& m = this->machines[index];
    if (this->run_one(m) == 1) {
      this->submit(m.held->queue, 2);
      this->wait_for(2);
    } else {
      this->tell(2);
    }
  }
  void finish() override {
    this->tasks.require_all_ran();
    this->require_all_accounted_for();
  }
};

}  // namespace runq::model
