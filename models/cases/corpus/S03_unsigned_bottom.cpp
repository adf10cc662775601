// SPDX-License-Identifier: MIT
// S3: Chase-Lev with unsigned indices: `bottom - 1` of an empty deque at 0 is the largest number there is.
//
// Source: the review of crossbeam#33 (the Chase-Lev of PPoPP 2013 takes an empty deque at 0 to have 2^64 elements).
//
//   1. owner: pop on the fresh deque: bottom becomes 0 - 1 = 2^64 - 1
//   2. owner: top = 0 is not greater than that, so there seems to be an element, in the last slot, which was never
//   written
//   3. a thief that looks now sees 2^64 - 1 elements, too
// Fix: signed indices (the shipped header), or counters that start at 1.
// Caught by: exact; Relacy, bounded and random.
#include "deque.hpp"

namespace runq::model::corpus {
namespace {

template <bug Bug>
using deque_of_S03 = deque<deque_traits{.signed_indices = Bug == bug::fixed}>;

// An empty deque at index 0. Owner: pop push pop ‖ thief: steal.
template <bug Bug>
struct unsigned_bottom final : deque_program<deque_of_S03<Bug>, 1> {
  void thread(unsigned index) override {
    if (index == 0) {
      this->pop();
      this->push(1);
      this->pop();
    } else {
      this->steal();
    }
  }
};

const bool added[] = {
    add_case<unsigned_bottom<bug::seeded>>({
        .name = "corpus/S03_unsigned_bottom",
        .property = "a pop from an empty deque at index 0 finds nothing: tpt ‖ steal",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<unsigned_bottom<bug::fixed>>({
        .name = "corpus/S03_fixed_signed_bottom",
        .property = "a pop from an empty deque at index 0 finds nothing: tpt ‖ steal",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model::corpus
