// SPDX-License-Identifier: MIT
// Light fences order nothing among themselves (atomics.hpp). Here they are nothing at all, as where the scheduler uses
// membarrier(2), and no thread makes a heavy one.
#include "park_model.hpp"

namespace runq::model {
namespace {

struct light_atomics : atomics {
  static void light_fence(std::memory_order) {}
  static void heavy_fence(std::memory_order) {
    require(current_engine().thread_index() < 0, "a heavy fence, in a scenario whose threads make only light ones");
  }
};

// Three processors, on which machines are busy. Outside: submits a task ‖ machine 0 and machine 1, each: look for work,
// and find another task ‖ machine 2: gives up its processor. If it sleeps, it is woken. A machine that begins to look
// withdraws the request of the submitter.
struct withdrawn_request final : park_model<3, 3, 1, 1, light_atomics> {
  withdrawn_request() {
    for (unsigned i = 0; i != 3; ++i) settle(i);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) return submit(global, 1);
    machine& m = machines[index - 1];
    be(m);
    if (index == 3) {
      leave(m);
      give(m, parking.machine_idle(m, *m.held));
    } else if (parking.may_spin(m)) {
      parking.found(m);
    }
  }
  void finish() override { require_all_accounted_for(); }
};

const bool added[] = {
    add_case<withdrawn_request>({
        .name = "park/withdrawn_request",
        .property = "a machine that has found a task does not rely on a request that was withdrawn: submit ‖ found ‖ "
                    "found ‖ a machine goes idle",
        .threads = 4,
    }),
};

}  // namespace
}  // namespace runq::model
