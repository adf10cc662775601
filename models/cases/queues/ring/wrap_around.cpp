// SPDX-License-Identifier: MIT
// The counters wrap around, and the slots are used again and again, while a thief looks on.
#include "ring_model.hpp"

namespace runq::model {
namespace {

// Capacity 2, an 8-bit index that passes 255 → 0. Owner: push push pop push pop ‖ thief: steal-half, then what it got.
struct wrap_around final : ring_model<2, 3, std::uint8_t> {
  wrap_around() : ring_model(254) {}
  void thread(unsigned index) override {
    if (index == 0) {
      push(victim, 1);
      push(victim, 2);
      pop(victim);
      push(victim, 3);
      pop(victim);
    } else {
      steal_half(victim, mine);
      drain(mine);
    }
  }
  void finish() override { finish_with(victim); }

  queue victim{first()};
  queue mine{first()};
};

// Capacity 2, full. Owner: push push, into slots that the thief may be reading ‖ thief: steal-half.
struct slot_reuse final : ring_model<2, 4> {
  slot_reuse() {
    preload(victim, 1);
    preload(victim, 2);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      push(victim, 3);
      push(victim, 4);
    } else {
      steal_half(victim, mine);
    }
  }
  void finish() override { finish_with(victim, mine); }

  queue victim{first()};
  queue mine{first()};
};

// Capacity 2. A thief reads the counters while as many tasks pass as make a 3-bit index come back to where it was.
// Owner: pop, then (push pop) × 7, then push ‖ thief: one steal of one task.
template <unsigned Bits>
struct index_comes_back final : ring_model<2, 9, narrow<Bits>> {
  using base = ring_model<2, 9, narrow<Bits>>;
  index_comes_back() { base::preload(victim, 1); }
  void thread(unsigned index) override {
    if (index == 0) {
      base::pop(victim);
      for (int id = 2; id <= 8; ++id) {
        base::push(victim, id);
        base::pop(victim);
      }
      base::push(victim, 9);
    } else {
      base::steal_one(victim);
    }
  }
  void finish() override { base::finish_with(victim); }

  typename base::queue victim{base::first()};
};

const bool added[] = {
    add_case<wrap_around>({
        .name = "ring/wrap_around",
        .property = "every task runs exactly once, in FIFO order, while an 8-bit index passes from 255 to 0",
        .threads = 2,
        .quick = {.random = 100'000, .bound = 3},
        .mutants = {{"publish_relaxed", "ring.push.publish", std::memory_order::relaxed}},
        .progress = progress_claim::lock_free,
    }),
    add_case<slot_reuse>({
        .name = "ring/slot_reuse",
        .property = "a thief never runs what the owner wrote into a slot after the thief had claimed it",
        .threads = 2,
        .quick = {.random = 100'000, .bound = 4},
        .progress = progress_claim::lock_free,
    }),
    add_case<index_comes_back<4>>({
        .name = "ring/index_comes_back_4_bits",
        .property = "a thief's claim fails when the head has moved, by up to 15 tasks, since the thief looked",
        .threads = 2,
        .quick = {.random = 50'000, .bound = 2},
        .progress = progress_claim::lock_free,
    }),
    add_case<index_comes_back<3>>({
        .name = "ring/index_comes_back_3_bits",
        .property = "with a 3-bit index the head comes back after 8 tasks and a sleeping thief's claim succeeds: ABA",
        .threads = 2,
        .seeded_bug = true,
    }),
};

}  // namespace
}  // namespace runq::model
