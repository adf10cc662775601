// SPDX-License-Identifier: MIT
// S10: two slips in one queue: cursors that count no further than the capacity, and a steal into a ring from which
// another thief is still copying.
//
// Source: tokio#2382, #2387. Loom, the project's model checker, had missed the second through a bug of its own.
//
// corpus/S10_full_looks_empty (tokio's ring was called full too early; a ring that is not fails like this):
//   1. two slots, cursors of one bit; owner: push 1, push 2: tail is 0 again, as head is
//   2. any thread: head = tail: the ring is empty; both tasks are lost
// Fix: cursors with more values than the ring has slots.
//
// corpus/S10_slots_not_given_back, two owners that steal from each other, two slots each:
//   1. A has tasks 1 and 2, B has task 3
//   2. B: claims task 1 of A's ring (steal = 0, real = 1) and is about to copy slot 0
//   3. A: pop 2: real = 2 = tail: its ring looks empty
//   4. A: steals from B; its next free element is 2, slot 0: writes there, while B reads
// Fix: the thief counts the room in its own ring from `steal`, not from `real`.
// Caught by: exact, both; Relacy, both, bounded and random.
#include "claimed_ring.hpp"

namespace runq::model::corpus {
namespace {

template <bug Bug>
using cursor_ring = claimed_ring<claimed_ring_traits{.cursor_bits = Bug == bug::seeded ? 1 : 2}>;

// Owner: push push pop ‖ thief: steal.
template <bug Bug>
struct full_looks_empty final : claimed_ring_program<cursor_ring<Bug>, 2> {
  void thread(unsigned index) override {
    if (index == 0) {
      this->push(victim, 1);
      this->push(victim, 2);
      this->run(victim.pop());
    } else {
      this->run(victim.steal_into(mine));
    }
  }
  void finish() override { this->finish_with(victim, mine); }

  cursor_ring<Bug> victim;
  cursor_ring<Bug> mine;
};

template <bug Bug>
using room_ring = claimed_ring<claimed_ring_traits{.waits_for_given_back = Bug == bug::fixed}>;

// A: two tasks; pop, then steal from B ‖ B: one task; steal from A.
template <bug Bug>
struct slots_not_given_back final : claimed_ring_program<room_ring<Bug>, 3> {
  slots_not_given_back() {
    this->push(a, 1);
    this->push(a, 2);
    this->push(b, 3);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      this->run(a.pop());
      this->run(b.steal_into(a));
    } else {
      this->run(a.steal_into(b));
    }
  }
  void finish() override { this->finish_with(a, b); }

  room_ring<Bug> a;
  room_ring<Bug> b;
};

const bool added[] = {
    add_case<full_looks_empty<bug::seeded>>({
        .name = "corpus/S10_full_looks_empty",
        .property = "a full ring is told from an empty one: ppg ‖ steal half",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<full_looks_empty<bug::fixed>>({
        .name = "corpus/S10_fixed_full_is_not_empty",
        .property = "a full ring is told from an empty one: ppg ‖ steal half",
        .threads = 2,
    }),
    add_case<slots_not_given_back<bug::seeded>>({
        .name = "corpus/S10_slots_not_given_back",
        .property = "a slot is not written while a thief still copies it: two owners steal from each other",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<slots_not_given_back<bug::fixed>>({
        .name = "corpus/S10_fixed_slots_given_back",
        .property = "a slot is not written while a thief still copies it: two owners steal from each other",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model::corpus
