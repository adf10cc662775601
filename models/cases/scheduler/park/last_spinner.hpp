// SPDX-License-Identifier: MIT
// The two sides of park's handshake, one machine and one submitter: see submit_vs_idle.cpp.
#pragma once

#include "park_model.hpp"

namespace runq::model {

// One processor. Outside: submit ‖ machine, spinning, the last one: look, rest, run the task.
template <class Parking = atomics>
struct last_spinner : park_model<1, 1, 1, 1, Parking> {
  last_spinner() { this->constructed(); }
  void thread(unsigned index) override {
    if (index == 0) {
      this->submit(this->global, 1);
    } else {
      require(this->run_one(this->machines[0]) == 1, "the machine left although the scheduler does not stop");
    }
  }
  void finish() override {
    this->tasks.require_all_ran();
    this->require_all_accounted_for();
  }
};

}  // namespace runq::model
