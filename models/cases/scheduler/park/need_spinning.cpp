// SPDX-License-Identifier: MIT
// golang/go#45867: machines that were not spinning give up their processor without a last look at all queues. The
// request (`need_spinning`) covers them.
#include "park_model.hpp"

namespace runq::model {
namespace {

// Processors 0 and 1 are in use; processor 2 has just become surplus. Machine 0 spins, holds processor 0, and finds
// nothing ‖ machine 1, busy on processor 1: submits task 1 there and waits for it ‖ machine 2 gives processor 2 up, and
// may take processor 0, which it then holds without spinning. If machine 0 sees the task only after that, it can do no
// more than leave a request.
struct spinner_sees_task_late final : park_model<3, 3, 1> {
  spinner_sees_task_late() {
    settle(0);
    settle(1);
    settle(2);
    require(parking.may_spin(machines[0]), "no machine spins, and yet this machine may not spin");
    parking.resize(2);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 1) {
      submit(processors[1].queue, 1);
      wait_for(1);
    } else if (run_one(machines[index]) == 1) {
      tell(1);
      parking.stop();
    }
  }
  void finish() override { tasks.require_all_ran(); }
};

// A submitter that finds no idle processor does not look at the queues, so it must not count as a spinner. Two
// processors. Machine 0, busy for long: submits 2 on its own queue ‖ outside: submits 1 on a queue of machine 1 ‖
// machine 1, which has spun, and found a task a moment ago.
struct submitters_do_not_spin final : park_model<2, 2, 2> {
  submitters_do_not_spin() {
    settle(0);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      submit(processors[0].queue, 2);
    } else if (index == 1) {
      submit(processors[1].queue, 1);
    } else {
      machine& m = machines[1];
      parking.found(m);
      for (int n = 1; n <= 2; ++n) require(run_one(m) != 0, "the scheduler does not stop, and yet a machine leaves");
    }
  }
  void finish() override {
    tasks.require_all_ran();
    require_all_accounted_for();
  }
};

const bool added[] = {
    add_case<not_spinning<>>({
        .name = "park/need_spinning",
        .property = "no task waits while a machine that was not spinning makes its processor idle (golang/go#45867)",
        .threads = 2,
        .kept_for = "the program of golang/go#45867",
    }),
    add_case<submitters_do_not_spin>({
        .name = "park/submitters_do_not_spin",
        .property = "a submitter that wakes no machine does not count as spinning: submit ‖ submit ‖ a machine",
        .threads = 3,
    }),
    add_case<spinner_sees_task_late>({
        .name = "park/spinner_sees_task_late",
        .property =
            "a machine that sees a task and finds no idle processor leaves a request for the machine that took it",
        .threads = 3,
    }),
};

}  // namespace
}  // namespace runq::model
