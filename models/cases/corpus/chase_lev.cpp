// SPDX-License-Identifier: MIT
// Bugs of Chase-Lev deques: S1 to S5, S7 and S20.
#include "deque.hpp"

namespace runq::model::corpus {
namespace {

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

// S4: a thief that claims first and reads the slot afterwards.
//
// Source: ssbl/concurrent-deque#2, charm#1345: the read was moved behind the compare-exchange to save copies.
//
//   1. thief: reads top = 0 and bottom = 2; claims element 0: top = 1
//   2. owner: push 3: there is room again, so it writes 3 into slot 2 mod 2, where 1 was
//   3. thief: reads the slot: 3, not 1; task 1 is lost, task 3 run twice
// Fix: read before the claim, and drop what was read when the claim fails.
// Caught by: exact; Relacy, bounded and random.

template <bug Bug>
using deque_of_S04 = deque<deque_traits{.slot_read_before_claim = Bug == bug::fixed}>;

// Two slots, both full. Owner: push ‖ thief: steal.
template <bug Bug>
struct slot_read_after_claim final : deque_program<deque_of_S04<Bug>, 3> {
  slot_read_after_claim() {
    this->push(1);
    this->push(2);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      this->push(3);
    } else {
      this->steal();
    }
  }
};

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
    add_case<slot_read_after_claim<bug::seeded>>({
        .name = "corpus/S04_slot_read_after_claim",
        .property = "a thief runs the task that it claimed, not what the owner has put in its place since: p ‖ steal",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<slot_read_after_claim<bug::fixed>>({
        .name = "corpus/S04_fixed_slot_read_before_claim",
        .property = "a thief runs the task that it claimed, not what the owner has put in its place since: p ‖ steal",
        .threads = 2,
    }),
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
