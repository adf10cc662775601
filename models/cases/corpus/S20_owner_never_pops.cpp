// SPDX-License-Identifier: MIT
// S20: Chase-Lev without the thief's seq_cst fence, with an acq_rel claim and a relaxed read of top. Is that right when
// the owner never pops?
//
// Source: taskflow#793 to #796, which take the fence out of a deque that only overflows are pushed to, arguing that it
// is there for the owner's pop alone.
//
// No bug, an equivalence: with an owner that only pushes, every execution passes, array growth included, so in RC11 the
// fence, the seq_cst of the claim and the acquire of top are redundant (corpus/S20_owner_never_pops, exhaustive; also
// with load buffering). A bug as soon as the same thief meets an owner that pops, corpus/S20_owner_pops:
//   1. two tasks inside; thief: steals element 0: top = 1
//   2. owner: pop: bottom = 1, fence, reads the old top = 0, so element 1 is not the last one: takes it without a claim
//   3. thief: reads top = 1, then the old bottom = 2, for no fence lies between: claims element 1, too
// Fix: the fence between the reads of top and bottom: corpus/S20_fixed_owner_pops.
// Caught by: exact; Relacy, bounded and random.
#include "deque.hpp"

namespace runq::model::corpus {
namespace {

template <bug Bug>
using deque_of_S20 = deque<deque_traits{.steal_top = Bug == bug::seeded ? relaxed : acquire,
                                        .steal_claim = Bug == bug::seeded ? acq_rel : seq_cst,
                                        .steal_has_fence = Bug == bug::fixed}>;

// Two slots. Owner: push push push ‖ a thief: steal steal ‖ another: steal.
struct owner_never_pops final : deque_program<deque_of_S20<bug::seeded>, 3> {
  void thread(unsigned index) override {
    if (index == 0) {
      for (int id = 1; id <= 3; ++id) push(id);
    } else {
      steal();
      if (index == 1) steal();
    }
  }
  void finish() override {
    for (int id = 1; id <= 3; ++id) steal();
    tasks.require_all_ran();
  }
};

// Two tasks inside. Owner: pop ‖ thief: steal steal.
template <bug Bug>
struct owner_pops final : deque_program<deque_of_S20<Bug>, 2> {
  owner_pops() {
    this->push(1);
    this->push(2);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      this->pop();
    } else {
      this->steal();
      this->steal();
    }
  }
};

const bool added[] = {
    add_case<owner_never_pops>({
        .name = "corpus/S20_owner_never_pops",
        .property =
            "without an owner's pop a thief needs no seq_cst: every task exactly once: ppp ‖ steal steal ‖ steal",
        .threads = 3,
    }),
    add_case<owner_pops<bug::seeded>>({
        .name = "corpus/S20_owner_pops",
        .property = "owner and thief never take the same task: t ‖ steal steal",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<owner_pops<bug::fixed>>({
        .name = "corpus/S20_fixed_owner_pops",
        .property = "owner and thief never take the same task: t ‖ steal steal",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model::corpus
