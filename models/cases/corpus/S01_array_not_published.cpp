// SPDX-License-Identifier: MIT
// S1: Chase-Lev whose larger array is published by a relaxed store and read by a relaxed load.
//
// Source: the chase-lev-deque benchmark of CDSChecker (B. Norris, B. Demsky, OOPSLA 2013): the orders of the PPoPP 2013
// paper, which calls for consume here, transcribed as relaxed; the benchmark "chase-lev-deque-bugfix" is the
// difference.
//
//   1. owner: push 1, push 2; the array of two slots is full
//   2. owner: push 3: allocates an array of four, copies 1 and 2 into it, publishes its address (relaxed)
//   3. thief: sees bottom as it was after push 1, so there is something to take
//   4. thief: reads the address of the new array, but none of its slots: task 1 is not there yet
// Fix: release where the array is published, acquire where a thief reads it.
// Caught by: exact; Relacy, bounded without a pre-emption; its random search misses it in 200,000 executions.
#include "deque.hpp"

namespace runq::model::corpus {
namespace {

template <bug Bug>
using deque_of_S01 = deque<deque_traits{.array_publish = Bug == bug::seeded ? relaxed : release,
                                        .array_read = Bug == bug::seeded ? relaxed : acquire}>;

// Two slots. Owner: push push push ‖ thief: steal.
template <bug Bug>
struct array_not_published final : deque_program<deque_of_S01<Bug>, 3> {
  void thread(unsigned index) override {
    if (index == 0) {
      for (int id = 1; id <= 3; ++id) this->push(id);
    } else {
      this->steal();
    }
  }
};

const bool added[] = {
    add_case<array_not_published<bug::seeded>>({
        .name = "corpus/S01_array_not_published",
        .property = "a thief finds the elements in an array that has just been grown: ppp ‖ steal",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<array_not_published<bug::fixed>>({
        .name = "corpus/S01_fixed_array_published",
        .property = "a thief finds the elements in an array that has just been grown: ppp ‖ steal",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model::corpus
