// SPDX-License-Identifier: MIT
// S12: a thief that reads plain slots before it knows whether they are its own.
//
// Source: tokio#2315: a copy from plain memory, before the claim, is undefined in C++ and Rust, whatever the machine
// does. Go still copies like this, because Go's memory model allows it; tokio gave up concurrent thieves.
//
//   1. thief: reads head = 0 and tail = 2, so slot 0 holds a task
//   2. owner: pop, push 3: writes slot 0
//   3. thief: reads slot 0 meanwhile; its claim will fail, but the two accesses race already
// Fix: relaxed atomic slots (the shipped header), whose value is dropped when the claim fails.
// Caught by: exact; Relacy, bounded and random.
#include "ring.hpp"

namespace runq::model::corpus {
namespace {

template <bug Bug>
using ring_of_S12 = ring<ring_traits{.atomic_slots = Bug == bug::fixed}>;

// Two slots, both full. Owner: pop push ‖ thief: steal-half.
template <bug Bug>
struct plain_slots final : ring_program<ring_of_S12<Bug>, 3> {
  plain_slots() {
    this->push(victim, 1);
    this->push(victim, 2);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      this->run(victim.pop());
      this->push(victim, 3);
    } else {
      this->run(victim.steal_half_into(mine));
    }
  }
  void finish() override { this->finish_with(victim, mine); }

  ring_of_S12<Bug> victim;
  ring_of_S12<Bug> mine;
};

const bool added[] = {
    add_case<plain_slots<bug::seeded>>({
        .name = "corpus/S12_plain_slots",
        .property = "a thief's look at a slot that is not its own is no data race: gp ‖ steal half",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<plain_slots<bug::fixed>>({
        .name = "corpus/S12_fixed_atomic_slots",
        .property = "a thief's look at a slot that is not its own is no data race: gp ‖ steal half",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model::corpus
