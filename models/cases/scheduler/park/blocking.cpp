// SPDX-License-Identifier: MIT
// A machine comes back from a blocking call and has lost its processor: it gets one, whoever has it or gives it up.
#include "park_model.hpp"
#include "runq/protocol/handoff.hpp"

namespace runq::model {
namespace {

// Machine 0 comes back from a call with its processor ‖ the monitor takes it away, because nobody needs it.
struct taken_meanwhile final : park_model<1, 1, 1> {
  // As if it had still been counted as spinning, so that no request is pending.
  taken_meanwhile() {
    constructed();
    ticket = in_call.enter();
  }
  void thread(unsigned index) override {
    machine& m = machines[0];
    if (index == 0) {
      if (!in_call.leave(ticket)) m.held = parking.come_back_waiting(m);
      require(m.held != nullptr, "the machine has no processor although the scheduler does not stop");
    } else {
      parking.hand_off(
          processors[0], [this] { return in_call.retake(in_call.peek() | 1); }, false);
    }
  }
  void finish() override { require_all_accounted_for(); }

  handoff<atomics> in_call;
  handoff<atomics>::ticket ticket = 0;
};

// Machine 1 has the processor that machine 0 lost, and is in a call itself, which does not end. Machine 0 comes back ‖
// the monitor takes the processor from machine 1, because nobody seems to need it.
struct taken_for_another final : park_model<2, 1, 1> {
  taken_for_another() {
    settle(0);
    take_from(0, true);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      machines[0].held = parking.come_back_waiting(machines[0]);
      require(machines[0].held != nullptr, "the machine has no processor although the scheduler does not stop");
    } else {
      take_from(1, false);
    }
  }
};

// Machine 1 has the processor that machine 0 lost, and runs out of work ‖ machine 0 comes back, does what is left to
// do, and stops the scheduler.
template <bool Asks>
struct given_back final : park_model<2, 1, 1> {
  given_back() {
    settle(0);
    take_from(0, true);
    parking.found(machines[1]);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      machines[0].held = parking.come_back_waiting(machines[0]);
      require(machines[0].held != nullptr, "the machine has no processor although the scheduler does not stop");
      parking.stop();
    } else {
      leave(machines[1]);
    }
  }
  // As find_work() of machine_loop; a machine that does not ask gives the processor up all the same.
  void leave(machine& m) {
    while (m.held != nullptr) {
      if (surplus(*m.held)) {
        m.held = parking.retire(m, *m.held);
      } else if (Asks && parking.somebody_returns()) {
        m.held = parking.pass_on(m, *m.held);
      } else {
        m.held = parking.rest(m, *m.held);
      }
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
      machines[0].held = parking.come_back_waiting(machines[0]);
      require(machines[0].held != nullptr, "the machine has no processor although the scheduler does not stop");
      parking.stop();
    } else {
      parking.resize(2);
      leave(machines[2]);
    }
  }
  void leave(machine& m) {
    while (m.held != nullptr) {
      m.held = surplus(*m.held) ? parking.retire(m, *m.held) : parking.rest(m, *m.held);
    }
  }
};

const bool added[] = {
    add_case<taken_meanwhile>({
        .name = "park/taken_meanwhile",
        .property = "a machine that comes back from a blocking call gets its processor, or it back from the monitor",
        .threads = 2,
        .quick = {.random = 20'000, .bound = 3},
    }),
    add_case<taken_for_another>({
        .name = "park/taken_for_another",
        .property = "a machine that comes back gets the processor that the monitor takes from another one",
        .threads = 2,
        .quick = {.random = 20'000, .bound = 3},
    }),
    add_case<given_back<true>>({
        .name = "park/passed_on",
        .property = "a machine that comes back gets the processor of the next one that looks for a task",
        .threads = 2,
        .quick = {.random = 20'000, .bound = 3},
    }),
    add_case<given_back<false>>({
        .name = "park/given_up",
        .property = "a machine that comes back gets the processor of the next one that gives it up",
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
