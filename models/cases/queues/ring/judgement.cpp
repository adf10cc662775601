// SPDX-License-Identifier: MIT
// What a thief may answer: "empty" only when the ring was, and within a bounded number of steps.
#include "ring_model.hpp"

namespace runq::model {
namespace {

// Capacity 4, two tasks inside; at no moment is the ring empty. Owner: push pop pop ‖ thief: is there work? steal-half.
struct never_empty final : ring_model<4, 3> {
  never_empty() {
    preload(victim, 1);
    preload(victim, 2);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      push(victim, 3);
      pop(victim);
      pop(victim);
    } else {
      require(has_work(victim), "has_work() said no about a ring that never was empty");
      require(steal_half(victim, mine, 1) != steal_status::empty, "a steal called a ring empty that never was");
    }
  }
  void finish() override { finish_with(victim); }

  queue victim{first()};
  queue mine{first()};
};

// The same with other ways to take: shed_half and drain move the head by more than one.
// Owner: a batch of two, shed (two of four) ‖ thief: is there work? steal of one.
struct never_empty_shed final : ring_model<4, 4> {
  never_empty_shed() {
    preload(victim, 1);
    preload(victim, 2);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      push_batch(victim, 3, 4);
      shed(victim);
    } else {
      require(has_work(victim), "has_work() said no about a ring that never was empty");
      require(steal_one(victim) != steal_status::empty, "a steal called a ring empty that never was");
    }
  }
  void finish() override { finish_with(victim); }

  queue victim{first()};
};

// Capacity 2, full. Owner: pop push pop push, so that a thief may read an old head and a new tail ‖ thief: steal-half.
struct steps_are_bounded final : ring_model<2, 4> {
  steps_are_bounded() {
    preload(victim, 1);
    preload(victim, 2);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      pop(victim);
      push(victim, 3);
      pop(victim);
      push(victim, 4);
    } else {
      steal_half(victim, mine);
    }
  }
  void finish() override { finish_with(victim, mine); }

  queue victim{first()};
  queue mine{first()};
};

// Capacity 4, three inside, the owner idle: nothing can disturb the thief, so the count is exact.
struct exact_half final : ring_model<4, 3> {
  exact_half() {
    for (int id = 1; id <= 3; ++id) preload(victim, id);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      require(steal_half(victim, mine) == steal_status::taken, "a lone thief took nothing of three tasks");
      drain(mine);
    }
  }
  void finish() override { finish_with(victim); }

  queue victim{first()};
  queue mine{first()};
};

// Capacity 4, two inside. Owner: push drain ‖ thief: steal-half.
struct drain_vs_steal final : ring_model<4, 3> {
  drain_vs_steal() {
    preload(victim, 1);
    preload(victim, 2);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      push(victim, 3);
      drain_at_once(victim);
    } else {
      steal_half(victim, mine);
    }
  }
  void finish() override { finish_with(victim, mine); }

  queue victim{first()};
  queue mine{first()};
};

// Capacity 2, full. Owner: push, which sheds half when there is no room ‖ thief: steal-half.
struct shed_vs_steal final : ring_model<2, 4> {
  shed_vs_steal() {
    preload(victim, 1);
    preload(victim, 2);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      shed(victim);
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

const bool added[] = {
    add_case<never_empty>({
        .name = "ring/never_empty",
        .property = "a ring that at no moment is empty is never called empty: push pop pop ‖ has_work, steal",
        .threads = 2,
        .quick = {.random = 100'000, .bound = 3},
        .mutants = {{"observe_head_relaxed", "ring.observe.head", std::memory_order::relaxed},
                    {"steal_head_relaxed", "ring.steal.head", std::memory_order::relaxed},
                    {"claim_relaxed", "ring.pop.claim", std::memory_order::relaxed}},
        .progress = progress_claim::lock_free,
    }),
    add_case<never_empty_shed>({
        .name = "ring/never_empty_shed",
        .property = "a ring that at no moment is empty is never called empty: batch shed ‖ has_work, steal",
        .threads = 2,
        .quick = {.random = 100'000, .bound = 3},
        .mutants = {{"steal_one_head_relaxed", "ring.steal_one.head", std::memory_order::relaxed},
                    {"shed_claim_relaxed", "ring.shed.claim", std::memory_order::relaxed}},
        .progress = progress_claim::lock_free,
    }),
    add_case<steps_are_bounded>({
        .name = "ring/steps_are_bounded",
        .property = "steal-half ends within its documented number of steps, whatever the owner does meanwhile",
        .threads = 2,
        .quick = {.random = 100'000, .bound = 3},
        .progress = progress_claim::lock_free,
    }),
    add_case<exact_half>({
        .name = "ring/exact_half",
        .property = "of three tasks a lone thief takes two",
        .threads = 2,
        .quick = {.random = 1'000, .bound = 2, .full = true},
        .progress = progress_claim::lock_free,
    }),
    add_case<drain_vs_steal>({
        .name = "ring/drain_vs_steal",
        .property = "a drain and a thief share out the tasks: each exactly once, contents visible",
        .threads = 2,
        .quick = {.random = 100'000, .bound = 3},
        .progress = progress_claim::lock_free,
    }),
    add_case<shed_vs_steal>({
        .name = "ring/shed_vs_steal",
        .property = "the older half of a full ring and a thief's half are disjoint: each task exactly once",
        .threads = 2,
        .quick = {.random = 100'000, .bound = 4},
        .progress = progress_claim::lock_free,
    }),
};

}  // namespace
}  // namespace runq::model
