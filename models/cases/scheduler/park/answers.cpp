// SPDX-License-Identifier: MIT
// A request stays while machines spin; a machine that gives up its processor beside one of them answers it.
#include "park_model.hpp"

namespace runq::model {
namespace {

// Three processors, on which machines are busy. Outside: submits a task ‖ machine 0: looks for work, and finds another
// task ‖ machine 1: gives up its processor, and goes on with one if it gets one. If machine 0 still spins then, machine
// 1 withdraws the request of the submitter, which machine 0 may have read.
struct answer_beside_spinner final : park_model<3, 3, 1> {
  answer_beside_spinner() {
    for (unsigned i = 0; i != 3; ++i) settle(i);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) return submit(global, 1);
    machine& m = machines[index - 1];
    be(m);
    if (index == 2) {
      leave(m);
      give(m, parking.machine_idle(m, *m.held));
    } else if (parking.may_spin(m)) {
      parking.found(m);
    }
  }
  void finish() override { require_all_accounted_for(); }
};

const bool added[] = {
    add_case<answer_beside_spinner>({
        .name = "park/answer_beside_spinner",
        .property =
            "a machine that gives up its processor beside a spinning one answers the request that it withdraws: "
            "submit ‖ look and find ‖ a machine goes idle",
        .threads = 3,
    }),
};

}  // namespace
}  // namespace runq::model
