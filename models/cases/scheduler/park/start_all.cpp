// SPDX-License-Identifier: MIT
// A machine is woken for every idle processor, although there may be no work.
#include "park_model.hpp"

namespace runq::model {
namespace {

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
    add_case<start_all_vs_submit>({
        .name = "park/start_all_vs_submit",
        .property = "a task is not forgotten that is submitted while the machine is woken without need",
        .threads = 3,
    }),
};

}  // namespace
}  // namespace runq::model
