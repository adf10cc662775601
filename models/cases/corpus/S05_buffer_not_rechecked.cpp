// SPDX-License-Identifier: MIT
// S5: a thief that steals a batch, one claim per element, from the buffer whose address it read at the beginning.
//
// Source: crossbeam#726, CVE-2021-32810, RUSTSEC-2021-0093: tasks popped twice, others never. The re-creation is the
// batch steal of a LIFO deque. There, bottom is read again before each further element, the buffer's address is not. A
// single steal reads bottom first and the address after it; the fix checks again there, too.
//
//   1. thief: sees three elements, means to take two; reads the address of buffer A (four slots)
//   2. owner: pop 3, pop 2 (neither is the last, so no claim); one element is left, so it shrinks: buffer B (two slots)
//   3. owner: push 4: element 1 of buffer B; A's slot 1 still holds task 2
//   4. thief: claims element 0; reads bottom again: there is an element 1; reads A's slot 1: task 2; claims element 1
//   5. task 2 is run twice, task 4 never
// Fix: between the read of a slot and its claim, see whether the buffer is still the same, and give up if not.
// Caught by: exact; Relacy, bounded and random.
#include "deque.hpp"

namespace runq::model::corpus {
namespace {

template <bug Bug>
class shrinking_deque : public deque<deque_traits{.capacity = 4}> {
 public:
  /// The pop of a deque that halves its buffer when that is no more than a quarter full.
  task* pop_and_shrink() {
    task* const t = pop();
    const std::int64_t b = bottom_.load(relaxed);
    const std::int64_t top = top_.load(relaxed);
    array* const a = array_.load(relaxed);
    if (t != nullptr && a->size == 4 && b - top == 1) replace(a, 2, top, b);
    return t;
  }

  /// Hands half of the elements, oldest first, to `sink`.
  template <class Sink>
  void steal_half(Sink&& sink) {
    std::int64_t top = top_.load(acquire);
    atomics::fence(seq_cst);
    std::int64_t b = bottom_.load(acquire);
    array* const a = array_.load(acquire);
    const std::int64_t n = (b - top + 1) / 2;
    for (std::int64_t i = 0; i < n; ++i) {
      if (i != 0) {
        atomics::fence(seq_cst);
        b = bottom_.load(acquire);
        if (b <= top) return;
      }
      task* const t = a->at(top).load(relaxed);
      if (Bug == bug::fixed && array_.load(acquire) != a) return;
      if (!top_.compare_exchange_strong(top, top + 1, seq_cst, relaxed)) return;
      sink(t);
      ++top;
    }
  }
};

// Four slots, three tasks inside. Owner: pop pop push ‖ thief: half of them.
template <bug Bug>
struct buffer_not_rechecked final : deque_program<shrinking_deque<Bug>, 4> {
  buffer_not_rechecked() {
    for (int id = 1; id <= 3; ++id) this->push(id);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      this->run(this->queue.pop_and_shrink());
      this->run(this->queue.pop_and_shrink());
      this->push(4);
    } else {
      this->queue.steal_half([this](task* t) { this->run(t); });
    }
  }
};

const bool added[] = {
    add_case<buffer_not_rechecked<bug::seeded>>({
        .name = "corpus/S05_buffer_not_rechecked",
        .property = "a thief of several elements notices that the owner has replaced the buffer: ttp ‖ steal half",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<buffer_not_rechecked<bug::fixed>>({
        .name = "corpus/S05_fixed_buffer_rechecked",
        .property = "a thief of several elements notices that the owner has replaced the buffer: ttp ‖ steal half",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model::corpus
