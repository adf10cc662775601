// SPDX-License-Identifier: MIT
// More machines than elsewhere.
#include "park_model.hpp"

namespace runq::model {
namespace {

// Four processors. Two tasks are queued, and nobody was woken for them, because machine 1 was spinning. Machine 0, busy
// for long: submits a third one ‖ machine 1, spinning ‖ machines 2 and 3, asleep. Each of the tasks goes on until the
// others have begun.
struct four_machines final : park_model<4, 4, 3, 2> {
  four_machines() {
    settle(0);
    settle(1);
    settle(2);
    put_to_sleep(3);
    put_to_sleep(2);
    require(parking.may_spin(machines[1]), "no machine spins, and yet this machine may not spin");
    processors[0].queue.put(tasks.make(1));
    global.put(tasks.make(2));
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      submit(global, 3);
    } else {
      machine& m = machines[index];
      if (index != 1) wake_up(m);
      const int id = run_one(m);
      tell(id);
      for (int other = 1; other != 4; ++other) wait_for(other);
    }
  }
  void finish() override {
    tasks.require_all_ran();
    require_all_accounted_for();
  }
};

const bool added[] = {
    add_case<four_machines>({
        .name = "park/four_machines",
        .property = "three tasks of a busy processor run on three others: submit ‖ spinner ‖ sleeper ‖ sleeper",
        .threads = 4,
        .kept_for = "four machines meet",
    }),
};

}  // namespace
}  // namespace runq::model
