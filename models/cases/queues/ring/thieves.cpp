// SPDX-License-Identifier: MIT
// Several thieves: two at one victim, a thief robbed by a thief, two owners who steal from each other.
#include "ring_model.hpp"

namespace runq::model {
namespace {

// Capacity 2. Owner: push push pop push ‖ two thieves, one steal-half each.
struct two_thieves final : ring_model<2, 3> {
  void thread(unsigned index) override {
    if (index == 0) {
      push(victim, 1);
      push(victim, 2);
      pop(victim);
      push(victim, 3);
    } else {
      queue& mine = index == 1 ? first_loot : second_loot;
      steal_half(victim, mine);
      drain(mine);
    }
  }
  void finish() override { finish_with(victim); }

  queue victim{first()};
  queue first_loot{first()};
  queue second_loot{first()};
};

// Capacity 4. Owner: push push push pop ‖ thief: steal-half from the owner ‖ thief of the thief: steal-half from him.
struct chain final : ring_model<4, 3> {
  void thread(unsigned index) override {
    if (index == 0) {
      push(victim, 1);
      push(victim, 2);
      push(victim, 3);
      pop(victim);
    } else if (index == 1) {
      steal_half(victim, thief);
    } else {
      steal_half(thief, thief_of_thief);
      drain(thief_of_thief);
    }
  }
  void finish() override { finish_with(thief, victim); }

  queue victim{first()};
  queue thief{first()};
  queue thief_of_thief{first()};
};

// Capacity 4, three tasks in a. a's owner: steal from b into a, pop ‖ b's owner: steal from a into b, push.
struct from_and_into final : ring_model<4, 5, std::uint64_t, order_judged::no> {
  from_and_into() {
    preload(a, 1);
    preload(a, 2);
    preload(a, 3);
    preload(b, 4);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      steal_half(b, a);
      pop(a);
    } else {
      steal_half(a, b);
      push(b, 5);
    }
  }
  void finish() override { finish_with(a, b); }

  queue a{first()};
  queue b{first()};
};

const bool added[] = {
    add_case<two_thieves>({
        .name = "ring/two_thieves",
        .property = "two thieves and the owner together run every task exactly once",
        .threads = 3,
        .quick = {.random = 200'000, .bound = 2},
        .mutants = {{"publish_relaxed", "ring.push.publish", std::memory_order::relaxed},
                    {"grab_tail_relaxed", "ring.steal.tail", std::memory_order::relaxed}},
        .progress = progress_claim::lock_free,
    }),
    add_case<chain>({
        .name = "ring/chain",
        .property = "a thief of a thief sees the contents of the tasks that the first thief took over",
        .threads = 3,
        .quick = {.random = 200'000, .bound = 2},
        .mutants = {{"thief_publish_relaxed", "ring.steal.publish", std::memory_order::relaxed}},
        .progress = progress_claim::lock_free,
    }),
    add_case<from_and_into>({
        .name = "ring/from_and_into",
        .property = "a ring may be stolen from while its owner steals into it",
        .threads = 2,
        .quick = {.random = 200'000, .bound = 3},
        .progress = progress_claim::lock_free,
    }),
};

}  // namespace
}  // namespace runq::model
