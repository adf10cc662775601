// SPDX-License-Identifier: MIT
// Six moves of the owner and three thieves.
#include "ring_model.hpp"

namespace runq::model {
namespace {

// Capacity 4. Owner: push push push pop push push ‖ three thieves: one steal-half each, then what they got.
struct three_thieves final : ring_model<4, 5> {
  void thread(unsigned index) override {
    if (index == 0) {
      for (int id = 1; id <= 3; ++id) push(victim, id);
      pop(victim);
      push(victim, 4);
      push(victim, 5);
    } else {
      queue& mine = index == 1 ? first_loot : index == 2 ? second_loot : third_loot;
      steal_half(victim, mine);
      drain(mine);
    }
  }
  void finish() override { finish_with(victim); }

  queue victim{first()};
  queue first_loot{first()};
  queue second_loot{first()};
  queue third_loot{first()};
};

const bool added = add_case<three_thieves>({
    .name = "ring/three_thieves",
    .property = "three thieves and an owner of six moves run every task exactly once",
    .threads = 4,
    .quick = {.random = 50'000, .bound = 1},
});

}  // namespace
}  // namespace runq::model
