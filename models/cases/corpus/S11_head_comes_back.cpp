// SPDX-License-Identifier: MIT
// S11: ABA: a thief sleeps while the head cursor goes all the way round.
//
// Source: tokio#5041, #5042: 16-bit cursors; 2^16 pops take less than a millisecond. Here the cursors have 2 bits.
//
//   1. thief: reads head = 0 and tail = 2: means to take one of two, and is pre-empted
//   2. owner: pops four tasks and pushes two: head = 4, which is 0 again, and tail = 4: the ring is empty
//   3. thief: its claim of head 0 → 1 succeeds: it takes what is still in slot 0, a task that has been run, and
//      leaves a head beyond the tail
// Fix: cursors too wide for that to happen within a pre-emption; here one bit more than the program can wrap.
// Caught by: exact; Relacy, bounded with one pre-emption; its random search misses it in 200,000 executions.
// (ring/index_comes_back_3_bits shows such an execution of the shipped ring.)
#include "claimed_ring.hpp"

namespace runq::model::corpus {
namespace {

template <bug Bug>
using ring_of_S11 = claimed_ring<claimed_ring_traits{.cursor_bits = Bug == bug::seeded ? 2 : 3}>;

// Two tasks inside. Owner: pop pop push pop push pop ‖ thief: steal.
template <bug Bug>
struct head_comes_back final : claimed_ring_program<ring_of_S11<Bug>, 4> {
  head_comes_back() {
    this->push(victim, 1);
    this->push(victim, 2);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      this->run(victim.pop());
      this->run(victim.pop());
      for (int id = 3; id <= 4; ++id) {
        this->push(victim, id);
        this->run(victim.pop());
      }
    } else {
      this->run(victim.steal_into(mine));
    }
  }
  void finish() override { this->finish_with(victim, mine); }

  ring_of_S11<Bug> victim;
  ring_of_S11<Bug> mine;
};

const bool added[] = {
    add_case<head_comes_back<bug::seeded>>({
        .name = "corpus/S11_head_comes_back",
        .property = "a claim fails when tasks have been taken since the thief looked: ggpgpg ‖ steal half",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<head_comes_back<bug::fixed>>({
        .name = "corpus/S11_fixed_wider_cursor",
        .property = "a claim fails when tasks have been taken since the thief looked: ggpgpg ‖ steal half",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model::corpus
