// SPDX-License-Identifier: MIT
// S7: steal-half on a LIFO Chase-Lev deque by one compare-exchange of top.
//
// Source: the review of crossbeam#148 (and #72 before it), since closed. The owner's pop claims only the last element,
// so nothing stops it from passing the thief's range.
//
//   1. thief: reads top = 0 and bottom = 3, means to take elements 0 and 1, reads both slots
//   2. owner: pop 3, pop 2: bottom = 1; top = 0 is still below, so neither pop needs a claim
//   3. thief: compare-exchange of top from 0 to 2 succeeds: task 2 is run twice, and top is beyond bottom
// Fix: on a LIFO deque, one claim per element, with a fence and a new look at bottom before each.
// Caught by: exact; Relacy, bounded and random. (The shipped header has the same as a source mutant.)
#include "deque.hpp"

namespace runq::model::corpus {
namespace {

template <bug Bug>
class half_deque : public deque<deque_traits{.capacity = 4}> {
 public:
  template <class Sink>
  void steal_half(Sink&& sink) {
    std::int64_t top = top_.load(acquire);
    atomics::fence(seq_cst);
    std::int64_t b = bottom_.load(acquire);
    array* const a = array_.load(acquire);
    const std::int64_t n = (b - top + 1) / 2;
    if (Bug == bug::seeded) {
      std::array<task*, 2> got{};
      for (std::int64_t i = 0; i < n; ++i) got[static_cast<std::size_t>(i)] = a->at(top + i).load(relaxed);
      if (n <= 0 || !top_.compare_exchange_strong(top, top + n, seq_cst, relaxed)) return;
      for (std::int64_t i = 0; i < n; ++i) sink(got[static_cast<std::size_t>(i)]);
      return;
    }
    for (std::int64_t i = 0; i < n; ++i) {
      if (i != 0) {
        atomics::fence(seq_cst);
        b = bottom_.load(acquire);
        if (b <= top) return;
      }
      task* const t = a->at(top).load(relaxed);
      if (!top_.compare_exchange_strong(top, top + 1, seq_cst, relaxed)) return;
      sink(t);
      ++top;
    }
  }
};

// Four slots, three tasks inside. Owner: pop pop ‖ thief: half of them.
template <bug Bug>
struct half_by_one_claim final : deque_program<half_deque<Bug>, 3> {
  half_by_one_claim() {
    for (int id = 1; id <= 3; ++id) this->push(id);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      this->pop();
      this->pop();
    } else {
      this->queue.steal_half([this](task* t) { this->run(t); });
    }
  }
};

const bool added[] = {
    add_case<half_by_one_claim<bug::seeded>>({
        .name = "corpus/S07_half_by_one_claim",
        .property = "a thief of half a LIFO deque and its owner never take the same element: tt ‖ steal half",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<half_by_one_claim<bug::fixed>>({
        .name = "corpus/S07_fixed_one_claim_each",
        .property = "a thief of half a LIFO deque and its owner never take the same element: tt ‖ steal half",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model::corpus
