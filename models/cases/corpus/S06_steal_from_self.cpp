// SPDX-License-Identifier: MIT
// S6: a steal whose victim is the thief's own queue.
//
// Source: crossbeam#448, which makes a batch steal return at once when source and destination are the same deque. There
// the destination makes room for the batch first. The re-creation is Go's steal-half, which makes no room, because a
// thief's queue is empty. It is not empty if the victim is the thief itself.
//
//   1. a ring of four slots with tasks 1, 2, 3 in slots 0, 1, 2
//   2. other thief: reads head = 0, wants task 1
//   3. owner: steals half of its own ring: copies 1 into slot 3, then 2 into slot 0, both before its claim
//   4. other thief: reads slot 0: task 2; claims element 0
//   5. owner: its claim of elements 0 and 1 fails; element 1 is still task 2: run twice, task 1 never
// Fix: a queue does not steal from itself (the shipped header: a checked contract).
// Caught by: exact; Relacy, bounded and random.
#include "ring.hpp"

namespace runq::model::corpus {
namespace {

template <bug Bug>
using ring_of_S06 = ring<ring_traits{.capacity = 4, .knows_itself = Bug == bug::fixed}>;

// Three tasks inside. Owner: steal-half from its own ring, pop ‖ thief: steal of one.
template <bug Bug>
struct steal_from_self final : ring_program<ring_of_S06<Bug>, 3> {
  steal_from_self() {
    for (int id = 1; id <= 3; ++id) this->push(queue, id);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      this->run(queue.steal_half_into(queue));
      this->run(queue.pop());
    } else {
      this->run(queue.steal());
    }
  }
  void finish() override { this->finish_with(queue); }

  ring_of_S06<Bug> queue;
};

const bool added[] = {
    add_case<steal_from_self<bug::seeded>>({
        .name = "corpus/S06_steal_from_self",
        .property = "an owner that steals from itself does not disturb other thieves: steal half of itself, g ‖ steal",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<steal_from_self<bug::fixed>>({
        .name = "corpus/S06_fixed_self_is_no_victim",
        .property = "an owner that steals from itself does not disturb other thieves: steal half of itself, g ‖ steal",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model::corpus
