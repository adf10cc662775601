// SPDX-License-Identifier: MIT
// S2: Chase-Lev whose push goes on writing into the array that it has just outgrown.
//
// Source: the same CDSChecker benchmark, whose source names it as a second bug of the published pseudo-code: push reads
// the array once, resizes, and does not read it again.
//
//   1. owner: push 1, push 2; the array of two slots is full
//   2. owner: push 3: publishes an array of four with 1 and 2 in it, then writes 3 into slot 2 mod 2 of the old one
//   3. the thread that takes element 2 reads the new array's slot 2, which was never written; a thief that still uses
//      the old array finds 3 where 1 was
// Fix: push continues with the new array.
// Caught by: exact; Relacy, bounded and random.
#include "deque.hpp"

namespace runq::model::corpus {
namespace {

template <bug Bug>
using deque_of_S02 = deque<deque_traits{.push_uses_new_array = Bug == bug::fixed}>;

// Two slots. Owner: push push push pop ‖ thief: steal.
template <bug Bug>
struct old_array_kept final : deque_program<deque_of_S02<Bug>, 3> {
  void thread(unsigned index) override {
    if (index == 0) {
      for (int id = 1; id <= 3; ++id) this->push(id);
      this->pop();
    } else {
      this->steal();
    }
  }
};

const bool added[] = {
    add_case<old_array_kept<bug::seeded>>({
        .name = "corpus/S02_old_array_kept",
        .property = "the element whose push grew the array is found again: pppt ‖ steal",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<old_array_kept<bug::fixed>>({
        .name = "corpus/S02_fixed_new_array_used",
        .property = "the element whose push grew the array is found again: pppt ‖ steal",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model::corpus
