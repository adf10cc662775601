// SPDX-License-Identifier: MIT
// The handshake, as in submit_vs_idle.cpp, with fences by interrupt (interrupt.hpp): what the scheduler relies on where
// it uses membarrier(2). Threads that submit, or have found a task, are interrupted by those who go to sleep or resize.
#include "interrupt.hpp"
#include "park_model.hpp"

namespace runq::model {
namespace {

struct submit_vs_last_spinner : last_spinner<interrupt_atomics> {
  void thread(unsigned index) override {
    if (index == 0) interrupts::point();
    last_spinner::thread(index);
  }
};

// Three processors. Machine 2, busy for long: submits task 1 on its own queue ‖ machine 0, spinning: has found another
// task, so it stops spinning by a light fence ‖ machine 1, spinning: look, rest by a heavy fence, run task 1.
struct submit_vs_two_spinners : park_model<3, 3, 1, 1, interrupt_atomics> {
  submit_vs_two_spinners() {
    for (unsigned i = 0; i != 3; ++i) settle(i);
    look_for_work(0);
    look_for_work(1);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      interrupts::point();
      submit(processors[2].queue, 1);
    } else if (index == 1) {
      interrupts::point();
      parking.found(machines[0]);
    } else {
      require(run_one(machines[1]) == 1, "the machine left although the scheduler does not stop");
    }
  }
  void finish() override {
    tasks.require_all_ran();
    require_all_accounted_for();
  }
};

struct found_by_light_fence_vs_resize : found_vs_resize<interrupt_atomics> {
  void thread(unsigned index) override {
    if (index == 0) interrupts::point();
    found_vs_resize::thread(index);
  }
};

const bool added[] = {
    add_case<interrupted<submit_vs_last_spinner, 2>>({
        .name = "park/interrupt_last_spinner",
        .property = "no machine sleeps while a task waits: submit ‖ the last spinning machine goes idle; fences by "
                    "interrupt",
        .threads = 2,
        .kept_for = "the smaller program",
    }),
    add_case<interrupted<submit_vs_two_spinners, 3, 2>>({
        .name = "park/interrupt_two_spinners",
        .property = "no machine sleeps while a task waits: submit ‖ a spinning machine finds another task ‖ the other "
                    "one goes idle; fences by interrupt",
        .threads = 3,
        .kept_for = "another spinner finds a task",
    }),
    add_case<interrupted<found_by_light_fence_vs_resize, 3>>({
        .name = "park/interrupt_found_vs_resize",
        .property = "a machine that has found a task does not rely on a request that resize() has withdrawn: found ‖ "
                    "submit ‖ resize; fences by interrupt",
        .threads = 3,
    }),
};

}  // namespace
}  // namespace runq::model
