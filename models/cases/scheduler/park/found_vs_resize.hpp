// SPDX-License-Identifier: MIT
// A machine finds a task beside a resize that withdraws a request: see resize.cpp.
#pragma once

#include "park_model.hpp"

namespace runq::model {

// One processor of two, on which machine 0 is busy. Machine 0: looks for work, and finds another task ‖ outside:
// submits a task ‖ outside: raises the limit to two, and withdraws the submitter's request. Machine 1 is asleep, and is
// woken.
template <class Parking = atomics>
struct found_vs_resize : park_model<2, 2, 1, 1, Parking> {
  found_vs_resize() {
    this->settle(0);
    this->put_to_sleep(1);
    this->parking.resize(1);
    this->constructed();
  }
  void thread(unsigned index) override {
    auto& m = this->machines[0];
    if (index == 0) {
      this->be(m);
      if (this->parking.may_spin(m)) this->parking.found(m);
    } else if (index == 1) {
      this->submit(this->global, 1);
    } else {
      this->parking.resize(2);
    }
  }
  void finish() override {
    require(this->machines[1].parker.unparked == 1,
            "a task waits, a processor is idle, and no machine looks for the task");
    this->require_all_accounted_for();
  }
};

}  // namespace runq::model
