// SPDX-License-Identifier: MIT
// A machine comes back from a blocking call and has lost its processor. It gets one, whatever machine holds it or gives
// it up.
#include "../blocking_calls/blocking_model.hpp"
#include "park_model.hpp"

namespace runq::model {
namespace {

// Machine 0 comes back from a call with its processor ‖ the monitor takes the processor, because no machine needs it.
struct taken_meanwhile final : blocking_model<1, 1, 1, slot_queues<1>> {
  // Machine 0 still counts as spinning, because settle() was not called: so no request is pending.
  taken_meanwhile() {
    block(0);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      be(machines[0]);
      (void)calling.leave_waiting(call);
      require(machines[0].held != nullptr, "the machine has no processor although the scheduler does not stop");
    } else {
      (void)look(long_after);
    }
  }
  void finish() override { require_all_accounted_for(); }
};

// Machine 1 has the processor that machine 0 lost, and is in a call itself, which does not end. Machine 0 comes back ‖
// the monitor takes the processor from machine 1, because no machine seems to need it.
struct taken_for_another final : park_model<2, 1, 1> {
  taken_for_another() {
    settle(0);
    take_from(0, true);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      be(machines[0]);
      give(machines[0], parking.come_back_waiting(machines[0]));
      require(machines[0].held != nullptr, "the machine has no processor although the scheduler does not stop");
    } else {
      take_from(1, false);
    }
  }
};

// Machine 1 has the processor that machine 0 lost, and runs out of work ‖ machine 0 comes back, does what is left to
// do, and stops the scheduler.
struct given_back final : park_model<2, 1, 1> {
  given_back() {
    settle(0);
    take_from(0, true);
    parking.found(machines[1]);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      be(machines[0]);
      give(machines[0], parking.come_back_waiting(machines[0]));
      require(machines[0].held != nullptr, "the machine has no processor although the scheduler does not stop");
      parking.stop();
    } else {
      require(run_one(machines[1]) == 0, "a task is run that was never made");
    }
  }
};

// Machine 0 comes back ‖ the scheduler stops ‖ machine 1, which has the only processor, leaves.
struct stopped_meanwhile final : park_model<2, 1, 1> {
  stopped_meanwhile() {
    settle(0);
    take_from(0, true);
    parking.found(machines[1]);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      (void)parking.come_back_waiting(machines[0]);
    } else {
      parking.stop();
    }
  }
};

// Machine 0 comes back, and stops the scheduler when it has a processor; machine 1 has the first one, and goes on with
// something long ‖ a second processor is added, and the machine that is started for it finds nothing to do.
struct grown_meanwhile final : park_model<3, 2, 1> {
  grown_meanwhile() {
    parking.resize(1);
    settle(0);
    take_from(0, true);
    parking.found(machines[1]);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      be(machines[0]);
      give(machines[0], parking.come_back_waiting(machines[0]));
      require(machines[0].held != nullptr, "the machine has no processor although the scheduler does not stop");
      parking.stop();
    } else {
      parking.resize(2);
      if (machines[2].held != nullptr) run_one(machines[2]);
    }
  }
};

const bool added[] = {
    add_case<taken_meanwhile>({
        .name = "park/taken_meanwhile",
        .property = "a machine that comes back from a call keeps its processor, or gets it back from the monitor",
        .threads = 2,
        .quick = {.random = 20'000, .bound = 3},
    }),
    add_case<taken_for_another>({
        .name = "park/taken_for_another",
        .property = "a machine that comes back gets the processor that the monitor takes from another one",
        .threads = 2,
        .quick = {.random = 20'000, .bound = 3},
    }),
    add_case<given_back>({
        .name = "park/given_back",
        .property =
            "a waiting machine gets the processor of one that asks before its next task, or that gives its own up",
        .threads = 2,
        .quick = {.random = 20'000, .bound = 3},
    }),
    add_case<stopped_meanwhile>({
        .name = "park/stopped_meanwhile",
        .property = "a machine that comes back while the scheduler stops does not wait for ever",
        .threads = 2,
        .quick = {.random = 20'000, .bound = 3},
    }),
    add_case<grown_meanwhile>({
        .name = "park/grown_meanwhile",
        .property = "a machine that comes back gets a processor that is added",
        .threads = 2,
        .quick = {.random = 20'000, .bound = 3},
    }),
};

}  // namespace
}  // namespace runq::model
