// SPDX-License-Identifier: MIT
// S9: a ring whose cursor arithmetic does not wrap around where the cursor does.
//
// Source: tokio#2361, #2362: `+` instead of a wrapping addition on 8-bit cursors; there it panics. In C++ the same slip
// is silent: the operands are promoted to int, and 255 + 1 is 256, which no 8-bit cursor ever equals.
//
//   1. two slots; tasks 1 and 2 at 254 and 255; tail has wrapped around to 0: the ring is full
//   2. owner: push 3: full would mean head + 2 = tail; 254 + 2 = 256, and tail is 0: so it is not full
//   3. owner: writes 3 into slot 0, where task 1 still is: task 1 is lost
// Fix: convert the sum back to the cursor's type before comparing.
// Caught by: exact; Relacy, bounded and random.
#include "ring.hpp"

namespace runq::model::corpus {
namespace {

template <bug Bug>
using ring_of_S09 = ring<ring_traits{.wrapping_add = Bug == bug::fixed}>;

// Full, at 254. Owner: push pop ‖ thief: steal.
template <bug Bug>
struct cursor_not_wrapping final : ring_program<ring_of_S09<Bug>, 3> {
  cursor_not_wrapping() {
    this->push(queue, 1);
    this->push(queue, 2);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      this->push(queue, 3);
      this->run(queue.pop());
    } else {
      this->run(queue.steal());
    }
  }
  void finish() override { this->finish_with(queue); }

  ring_of_S09<Bug> queue{254};
};

const bool added[] = {
    add_case<cursor_not_wrapping<bug::seeded>>({
        .name = "corpus/S09_cursor_not_wrapping",
        .property = "a full ring is full while its 8-bit cursors pass from 255 to 0: pg ‖ steal",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<cursor_not_wrapping<bug::fixed>>({
        .name = "corpus/S09_fixed_cursor_wrapping",
        .property = "a full ring is full while its 8-bit cursors pass from 255 to 0: pg ‖ steal",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model::corpus
