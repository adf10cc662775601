// SPDX-License-Identifier: MIT
// A thief that owns no ring takes half into plain memory: against each move of the owner, and against another thief.
#include "ring_model.hpp"

namespace runq::model {
namespace {

// Capacity 2. Owner: push push pop ‖ thief: half, into memory.
struct out_vs_push final : ring_model<2, 2> {
  void thread(unsigned index) override {
    if (index == 0) {
      push(victim, 1);
      push(victim, 2);
      pop(victim);
    } else {
      steal_half_out(victim);
    }
  }
  void finish() override { finish_with(victim); }

  queue victim{first()};
};

// Capacity 4, two tasks inside; at no moment is the ring empty. Owner: push pop pop ‖ thief: half, into memory for one.
struct out_never_empty final : ring_model<4, 3> {
  out_never_empty() {
    preload(victim, 1);
    preload(victim, 2);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      push(victim, 3);
      pop(victim);
      pop(victim);
    } else {
      require(steal_half_out(victim, 1).has_value(), "a steal called a ring empty that never was");
    }
  }
  void finish() override { finish_with(victim); }

  queue victim{first()};
};

// Capacity 2, an 8-bit index that passes 255 → 0, full. Owner: pop push pop push, so that a thief may read an old head
// and a new tail ‖ thief: half, into memory.
struct out_wrap_around final : ring_model<2, 4, std::uint8_t> {
  out_wrap_around() : ring_model(254) {
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
      steal_half_out(victim);
    }
  }
  void finish() override { finish_with(victim); }

  queue victim{first()};
};

// Capacity 2, full. Owner: push push, into slots that the thief may be reading ‖ thief: half, into memory.
struct out_slot_reuse final : ring_model<2, 4> {
  out_slot_reuse() {
    preload(victim, 1);
    preload(victim, 2);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      push(victim, 3);
      push(victim, 4);
    } else {
      steal_half_out(victim);
    }
  }
  void finish() override { finish_with(victim); }

  queue victim{first()};
};

// Capacity 4, three tasks inside. Owner: push pop ‖ a thief: half, into memory ‖ a thief: half, into its ring.
struct out_vs_thief final : ring_model<4, 4> {
  out_vs_thief() {
    for (int id = 1; id <= 3; ++id) preload(victim, id);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      push(victim, 4);
      pop(victim);
    } else if (index == 1) {
      steal_half_out(victim);
    } else {
      steal_half(victim, mine);
      drain(mine);
    }
  }
  void finish() override { finish_with(victim); }

  queue victim{first()};
  queue mine{first()};
};

// Capacity 4, full, the owner idle: nothing can disturb the thief, so the counts are exact.
struct out_exact_half final : ring_model<4, 4> {
  out_exact_half() {
    for (int id = 1; id <= 4; ++id) preload(victim, id);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      require(steal_half_out(victim, 1) == 1, "of four tasks a lone thief with room for one did not take one");
      require(steal_half_out(victim) == 2, "of three tasks a lone thief did not take two");
    }
  }
  void finish() override { finish_with(victim); }

  queue victim{first()};
};

const bool added[] = {
    add_case<out_vs_push>({
        .name = "ring/out_vs_push",
        .property = "every task runs exactly once, its contents visible, in FIFO order: push push pop ‖ half to memory",
        .threads = 2,
        .quick = {.random = 100'000, .bound = 4},
        .mutants = {{"publish_relaxed", "ring.push.publish", std::memory_order::relaxed},
                    {"out_tail_relaxed", "ring.steal_out.tail", std::memory_order::relaxed}},
        .progress = progress_claim::lock_free,
    }),
    add_case<out_never_empty>({
        .name = "ring/out_never_empty",
        .property = "a ring that at no moment is empty is never called empty: push pop pop ‖ half to memory for one",
        .threads = 2,
        .quick = {.random = 100'000, .bound = 3},
        .mutants = {{"out_head_relaxed", "ring.steal_out.head", std::memory_order::relaxed},
                    {"claim_relaxed", "ring.pop.claim", std::memory_order::relaxed}},
        .progress = progress_claim::lock_free,
    }),
    add_case<out_wrap_around>({
        .name = "ring/out_wrap_around",
        .property = "half to memory is half, in bounded steps, while an 8-bit index passes from 255 to 0",
        .threads = 2,
        .quick = {.random = 100'000, .bound = 3},
        .progress = progress_claim::lock_free,
    }),
    add_case<out_slot_reuse>({
        .name = "ring/out_slot_reuse",
        .property = "a thief never runs what the owner wrote into a slot after the thief had claimed it",
        .threads = 2,
        .quick = {.random = 100'000, .bound = 4},
        .progress = progress_claim::lock_free,
    }),
    add_case<out_vs_thief>({
        .name = "ring/out_vs_thief",
        .property = "a thief with a ring, one without and the owner together run every task exactly once",
        .threads = 3,
        .quick = {.random = 200'000, .bound = 2},
        .progress = progress_claim::lock_free,
    }),
    add_case<out_exact_half>({
        .name = "ring/out_exact_half",
        .property = "of four tasks a lone thief with room for one takes one, and of the other three two",
        .threads = 2,
        .quick = {.random = 1'000, .bound = 2, .full = true},
        .progress = progress_claim::lock_free,
    }),
};

}  // namespace
}  // namespace runq::model
