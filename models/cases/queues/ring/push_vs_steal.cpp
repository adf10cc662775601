// SPDX-License-Identifier: MIT
// The smallest useful program: an owner pushes and pops while one thief takes half.
#include "ring_model.hpp"

namespace runq::model {
namespace {

// Capacity 2. Owner: push push pop ‖ thief: one steal-half, then everything it got.
struct push_vs_steal final : ring_model<2, 2> {
  void thread(unsigned index) override {
    if (index == 0) {
      push(victim, 1);
      push(victim, 2);
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

// Capacity 2, one task inside. Owner: pop push push ‖ thief: one steal of one task.
struct steal_one_vs_pop final : ring_model<2, 3> {
  steal_one_vs_pop() { preload(victim, 1); }
  void thread(unsigned index) override {
    if (index == 0) {
      pop(victim);
      push(victim, 2);
      push(victim, 3);
    } else {
      steal_one(victim);
    }
  }
  void finish() override { finish_with(victim); }

  queue victim{first()};
};

// Capacity 4. Owner: a batch of three at once, then pop ‖ thief: steal-half (two of three), then everything it got.
struct batch_vs_steal final : ring_model<4, 3> {
  void thread(unsigned index) override {
    if (index == 0) {
      push_batch(victim, 1, 3);
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

const bool added[] = {
    add_case<push_vs_steal>({
        .name = "ring/push_vs_steal",
        .property = "every task runs exactly once, its contents visible, in FIFO order: push push pop ‖ steal-half",
        .threads = 2,
        .quick = {.random = 100'000, .bound = 4},
        .full = {.random = 5'000'000, .bound = 5, .full = true},
        .mutants = {{"publish_relaxed", "ring.push.publish", std::memory_order::relaxed},
                    {"grab_tail_relaxed", "ring.steal.tail", std::memory_order::relaxed}},
        .progress = progress_claim::lock_free,
    }),
    add_case<steal_one_vs_pop>({
        .name = "ring/steal_one_vs_pop",
        .property = "every task runs exactly once, its contents visible, in FIFO order: pop push push ‖ steal of one",
        .threads = 2,
        .quick = {.random = 100'000, .bound = 4},
        .mutants = {{"publish_relaxed", "ring.push.publish", std::memory_order::relaxed},
                    {"grab_tail_relaxed", "ring.steal_one.tail", std::memory_order::relaxed}},
        .progress = progress_claim::lock_free,
    }),
    add_case<batch_vs_steal>({
        .name = "ring/batch_vs_steal",
        .property = "a batch is published at once: a thief sees none of it or takes the older half of all of it",
        .threads = 2,
        .quick = {.random = 100'000, .bound = 3},
        .mutants = {{"publish_relaxed", "ring.push_batch.publish", std::memory_order::relaxed},
                    {"grab_tail_relaxed", "ring.steal.tail", std::memory_order::relaxed}},
        .progress = progress_claim::lock_free,
    }),
};

}  // namespace
}  // namespace runq::model
