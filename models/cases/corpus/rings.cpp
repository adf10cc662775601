// SPDX-License-Identifier: MIT
// Bugs of rings that thieves take from: S6 and S9 to S12.
#include <array>
#include <cstdint>

#include "ring.hpp"
#include "waiting.hpp"

namespace runq::model::corpus {
namespace {

// S6: a steal whose victim is the thief's own queue.
//
// Source: crossbeam#448, which makes a batch steal return at once when source and destination are the same deque. There
// the destination makes room for the batch first. The re-creation is Go's steal-half, which makes no room, because a
// thief's queue is empty. It is not empty if the victim is the thief itself.
//
//   1. a ring of four slots with tasks 1, 2, 3 in slots 0, 1, 2
//   2. other thief: reads head = 0, wants task 1
//   3. owner: steals half of its own ring: copies 1 into slot 3, then 2 into slot 0, both before its claim
//   4. other thief: reads slot 0: task 2; claims element 0
//   5. owner: its claim of elements 0 and 1 fails; element 1 is still task 2: run twice, task 1 never
// Fix: a queue does not steal from itself (the shipped header: a checked contract).
// Caught by: exact; Relacy, bounded and random.

template <bug Bug>
using ring_of_S06 = ring<ring_traits{.capacity = 4, .knows_itself = Bug == bug::fixed}>;

// Three tasks inside. Owner: steal-half from its own ring, pop ‖ thief: steal of one.
template <bug Bug>
struct steal_from_self final : ring_program<ring_of_S06<Bug>, 3> {
  steal_from_self() {
    for (int id = 1; id <= 3; ++id) this->push(queue, id);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      this->run(queue.steal_half_into(queue));
      this->run(queue.pop());
    } else {
      this->run(queue.steal());
    }
  }
  void finish() override { this->finish_with(queue); }

  ring_of_S06<Bug> queue;
};

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

// A ring whose thief claims first, copies afterwards and then gives the slots back: the queue of tokio since 0.2.14.
// One thief at a time; slots are plain memory. `claimed_ring_traits` seeds the bugs that the queue has had.

/// The defaults are correct; each seeded bug sets one of them to what it was.
struct claimed_ring_traits {
  unsigned cursor_bits = 8;          ///< a cursor counts to 2^cursor_bits
  bool waits_for_given_back = true;  ///< a thief counts slots of its own ring that are still copied out
};

template <claimed_ring_traits Traits>
class claimed_ring {
 public:
  // For the owner only.
  /// Returns false when there is no room; tokio then pushes to the global queue.
  bool push(task* t) {
    const cursors h = head_.load(acquire);
    const unsigned end = tail_.load(relaxed);
    if (distance(h.steal, end) >= capacity) return false;
    slot(end).set(t);
    tail_.store(next(end, 1), release);
    return true;
  }
  task* pop() {
    cursors h = head_.load(acquire);
    const unsigned end = tail_.load(relaxed);
    for (;;) {
      if (h.real == end) return nullptr;
      const std::uint8_t real = next(h.real, 1);
      const cursors then{h.steal == h.real ? real : h.steal, real};
      const unsigned mine = h.real;
      if (head_.compare_exchange_strong(h, then, acq_rel, acquire)) return slot(mine).get();
    }
  }

  /// Takes half of this ring's tasks into `into`, which the caller owns, and returns the newest of them.
  task* steal_into(claimed_ring& into) {
    const unsigned to = into.tail_.load(relaxed);
    const cursors room = into.head_.load(acquire);
    if (distance(Traits.waits_for_given_back ? room.steal : room.real, to) > capacity / 2) return nullptr;

    cursors h = head_.load(acquire);
    unsigned n = 0;
    std::uint8_t claimed = 0;
    for (;;) {
      const unsigned end = tail_.load(acquire);
      if (h.steal != h.real) return nullptr;
      n = distance(h.real, end);
      n -= n / 2;
      if (n == 0) return nullptr;
      claimed = next(h.real, n);
      if (head_.compare_exchange_strong(h, cursors{h.steal, claimed}, acq_rel, acquire)) break;
    }
    const unsigned from = h.real;
    for (unsigned i = 0; i != n; ++i) into.slot(to + i).set(slot(from + i).get());

    h.real = claimed;
    while (!head_.compare_exchange_strong(h, cursors{h.real, h.real}, acq_rel, acquire)) continue;
    task* const newest = into.slot(to + n - 1).get();
    if (n != 1) into.tail_.store(next(to, n - 1), release);
    return newest;
  }

 private:
  static constexpr unsigned capacity = 2;
  static constexpr unsigned mask = (1U << Traits.cursor_bits) - 1;

  /// Elements below `steal` are free; `steal` … `real` are being copied by a thief; from `real` on they may be taken.
  struct cursors {
    std::uint8_t steal;
    std::uint8_t real;
  };

  [[nodiscard]] static unsigned distance(unsigned from, unsigned to) { return (to - from) & mask; }
  [[nodiscard]] static std::uint8_t next(unsigned from, unsigned by) {
    return static_cast<std::uint8_t>((from + by) & mask);
  }
  [[nodiscard]] cell<task*>& slot(unsigned at) { return slots_[at % capacity]; }

  atomic<cursors> head_{cursors{0, 0}};
  atomic<std::uint8_t> tail_{std::uint8_t{0}};
  std::array<cell<task*>, capacity> slots_;
};

// S10: two slips in one queue: cursors that count no further than the capacity, and a steal into a ring from which
// another thief is still copying.
//
// Source: tokio#2382, #2387. Loom, the project's model checker, had missed the second through a bug of its own.
//
// corpus/S10_full_looks_empty (tokio's ring was called full too early; a ring that is not fails like this):
//   1. two slots, cursors of one bit; owner: push 1, push 2: tail is 0 again, as head is
//   2. any thread: head = tail: the ring is empty; both tasks are lost
// Fix: cursors with more values than the ring has slots.
//
// corpus/S10_slots_not_given_back, two owners that steal from each other, two slots each:
//   1. A has tasks 1 and 2, B has task 3
//   2. B: claims task 1 of A's ring (steal = 0, real = 1) and is about to copy slot 0
//   3. A: pop 2: real = 2 = tail: its ring looks empty
//   4. A: steals from B; its next free element is 2, slot 0: writes there, while B reads
// Fix: the thief counts the room in its own ring from `steal`, not from `real`.
// Caught by: exact, both; Relacy, both, bounded and random.

template <bug Bug>
using cursor_ring = claimed_ring<claimed_ring_traits{.cursor_bits = Bug == bug::seeded ? 1 : 2}>;

// Owner: push push pop ‖ thief: steal.
template <bug Bug>
struct full_looks_empty final : ring_program<cursor_ring<Bug>, 2> {
  void thread(unsigned index) override {
    if (index == 0) {
      this->push(victim, 1);
      this->push(victim, 2);
      this->run(victim.pop());
    } else {
      this->run(victim.steal_into(mine));
    }
  }
  void finish() override { this->finish_with(victim, mine); }

  cursor_ring<Bug> victim;
  cursor_ring<Bug> mine;
};

template <bug Bug>
using room_ring = claimed_ring<claimed_ring_traits{.waits_for_given_back = Bug == bug::fixed}>;

// A: two tasks; pop, then steal from B ‖ B: one task; steal from A.
template <bug Bug>
struct slots_not_given_back final : ring_program<room_ring<Bug>, 3> {
  slots_not_given_back() {
    this->push(a, 1);
    this->push(a, 2);
    this->push(b, 3);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      this->run(a.pop());
      this->run(b.steal_into(a));
    } else {
      this->run(a.steal_into(b));
    }
  }
  void finish() override { this->finish_with(a, b); }

  room_ring<Bug> a;
  room_ring<Bug> b;
};

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

template <bug Bug>
using ring_of_S11 = claimed_ring<claimed_ring_traits{.cursor_bits = Bug == bug::seeded ? 2 : 3}>;

// Two tasks inside. Owner: pop pop push pop push pop ‖ thief: steal.
template <bug Bug>
struct head_comes_back final : ring_program<ring_of_S11<Bug>, 4> {
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

// S12: a thief that reads plain slots before it knows whether they are its own.
//
// Source: tokio#2315: a copy from plain memory, before the claim, is undefined in C++ and Rust, whatever the machine
// does. Go still copies like this, because Go's memory model allows it; tokio gave up concurrent thieves.
//
//   1. thief: reads head = 0 and tail = 2, so slot 0 holds a task
//   2. owner: pop, push 3: writes slot 0
//   3. thief: reads slot 0 meanwhile; its claim will fail, but the two accesses race already
// Fix: relaxed atomic slots (the shipped header), whose value is dropped when the claim fails.
// Caught by: exact; Relacy, bounded and random.

template <bug Bug>
using ring_of_S12 = ring<ring_traits{.atomic_slots = Bug == bug::fixed}>;

// Two slots, both full. Owner: pop push ‖ thief: steal-half.
template <bug Bug>
struct plain_slots final : ring_program<ring_of_S12<Bug>, 3> {
  plain_slots() {
    this->push(victim, 1);
    this->push(victim, 2);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      this->run(victim.pop());
      this->push(victim, 3);
    } else {
      this->run(victim.steal_half_into(mine));
    }
  }
  void finish() override { this->finish_with(victim, mine); }

  ring_of_S12<Bug> victim;
  ring_of_S12<Bug> mine;
};

const bool added[] = {
    add_case<steal_from_self<bug::seeded>>({
        .name = "corpus/S06_steal_from_self",
        .property = "an owner that steals from itself does not disturb other thieves: steal half of itself, g ‖ steal",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<steal_from_self<bug::fixed>>({
        .name = "corpus/S06_fixed_self_is_no_victim",
        .property = "an owner that steals from itself does not disturb other thieves: steal half of itself, g ‖ steal",
        .threads = 2,
    }),
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
    add_case<full_looks_empty<bug::seeded>>({
        .name = "corpus/S10_full_looks_empty",
        .property = "a full ring is told from an empty one: ppg ‖ steal half",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<full_looks_empty<bug::fixed>>({
        .name = "corpus/S10_fixed_full_is_not_empty",
        .property = "a full ring is told from an empty one: ppg ‖ steal half",
        .threads = 2,
    }),
    add_case<slots_not_given_back<bug::seeded>>({
        .name = "corpus/S10_slots_not_given_back",
        .property = "a slot is not written while a thief still copies it: two owners steal from each other",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<slots_not_given_back<bug::fixed>>({
        .name = "corpus/S10_fixed_slots_given_back",
        .property = "a slot is not written while a thief still copies it: two owners steal from each other",
        .threads = 2,
    }),
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
    add_case<plain_slots<bug::seeded>>({
        .name = "corpus/S12_plain_slots",
        .property = "a thief's look at a slot that is not its own is no data race: gp ‖ steal half",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<plain_slots<bug::fixed>>({
        .name = "corpus/S12_fixed_atomic_slots",
        .property = "a thief's look at a slot that is not its own is no data race: gp ‖ steal half",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model::corpus
