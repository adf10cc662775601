// SPDX-License-Identifier: MIT
// A submitter that waits for the lock leaves when a machine looks for work or is asked to: its task is found all the
// same. The lock is the shipped one here.
#include "../short_lock/short_lock_model.hpp"
#include "park_model.hpp"

namespace runq::model {
namespace {

template <unsigned Machines, unsigned Processors, int Tasks>
using model_with_lock = park_model<Machines, Processors, Tasks, 1, atomics_and_short_lock>;

// One processor. Outside: submit ‖ machine, spinning, the last one: rest, and look for the last time ‖ a thread that
// holds the lock for a moment and wakes nobody.
struct last_spinner_beside_holder final : model_with_lock<1, 1, 1> {
  last_spinner_beside_holder() { constructed(); }
  void thread(unsigned index) override {
    if (index == 0) {
      parking.with_lock([] {});
    } else if (index == 1) {
      machine& m = machines[0];
      be(m);
      leave(m);
      give(m, parking.machine_idle(m, *m.held));
      require(m.held != nullptr, "the machine left although the scheduler does not stop");
    } else {
      submit(global, 1);
    }
  }
  void finish() override { require_all_accounted_for(); }
};

// All processors are busy. Machine 1, spinning: has found a task ‖ outside: submit 1 ‖ outside: submit 2. Whoever has
// the lock first leaves a request, and the others leave it there.
struct request_stays final : model_with_lock<2, 2, 2> {
  request_stays() {
    settle(0);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) return parking.found(machines[1]);
    submit(processors[index - 1].queue, static_cast<int>(index));
  }
  void finish() override { require(parking.need_spinning(), "tasks wait, and no machine is asked to look for them"); }
};

// Three machines are idle. Outside: submit 1 ‖ outside: submit 2 ‖ outside: submit 3. One machine is woken, and will
// look for all tasks.
struct one_waker_at_the_lock final : model_with_lock<3, 3, 3> {
  one_waker_at_the_lock() {
    settle(0);
    settle(1);
    for (unsigned i = 0; i != 3; ++i) put_to_sleep(i);
    constructed();
  }
  void thread(unsigned index) override { submit(processors[index].queue, static_cast<int>(index) + 1); }
  void finish() override { require_one_was_woken(); }
};

const bool added[] = {
    add_case<last_spinner_beside_holder>({
        .name = "park/gives_up_vs_last_spinner",
        .property = "a submitter that waits for the lock gives up only if a machine finds its task: submit ‖ the last "
                    "spinning machine goes idle ‖ a thread that holds the lock",
        .threads = 3,
    }),
    add_case<request_stays>({
        .name = "park/gives_up_to_request",
        .property = "a submitter that waits for the lock and sees a request leaves it there: submit ‖ submit ‖ found",
        .threads = 3,
    }),
    add_case<one_waker_at_the_lock>({
        .name = "park/gives_up_to_woken",
        .property = "three submitters that meet at the lock wake exactly one of three idle machines",
        .threads = 3,
        .kept_for = "submitters meet at a lock that gives up",
    }),
    add_case<not_spinning<atomics_and_short_lock>>({
        .name = "park/gives_up_vs_not_spinning",
        .property = "a submitter that waits for the lock of a machine that goes idle without a last look does not "
                    "give up",
        .threads = 2,
        .kept_for = "the machine makes no last look",
    }),
};

}  // namespace
}  // namespace runq::model
