// SPDX-License-Identifier: MIT
// S4: a thief that claims first and reads the slot afterwards.
//
// Source: ssbl/concurrent-deque#2, charm#1345: the read was moved behind the compare-exchange to save copies.
//
//   1. thief: reads top = 0 and bottom = 2; claims element 0: top = 1
//   2. owner: push 3: there is room again, so it writes 3 into slot 2 mod 2, where 1 was
//   3. thief: reads the slot: 3, not 1; task 1 is lost, task 3 run twice
// Fix: read before the claim, and drop what was read when the claim fails.
// Caught by: exact; Relacy, bounded and random.
#include "deque.hpp"

namespace runq::model::corpus {
namespace {

template <bug Bug>
using deque_of_S04 = deque<deque_traits{.slot_read_before_claim = Bug == bug::fixed}>;

// Two slots, both full. Owner: push ‖ thief: steal.
template <bug Bug>
struct slot_read_after_claim final : deque_program<deque_of_S04<Bug>, 3> {
  slot_read_after_claim() {
    this->push(1);
    this->push(2);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      this->push(3);
    } else {
      this->steal();
    }
  }
};

const bool added[] = {
    add_case<slot_read_after_claim<bug::seeded>>({
        .name = "corpus/S04_slot_read_after_claim",
        .property = "a thief runs the task that it claimed, not what the owner has put in its place since: p ‖ steal",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<slot_read_after_claim<bug::fixed>>({
        .name = "corpus/S04_fixed_slot_read_before_claim",
        .property = "a thief runs the task that it claimed, not what the owner has put in its place since: p ‖ steal",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model::corpus
