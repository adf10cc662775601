// SPDX-License-Identifier: MIT
// A ring whose thief claims first, copies afterwards and then gives the slots back: the queue of tokio since 0.2.14.
// One thief at a time; slots are plain memory. `claimed_ring_traits` seeds the bugs that the queue has had.
#pragma once

#include <array>
#include <cstdint>

#include "corpus.hpp"
#include "waiting.hpp"

namespace runq::model::corpus {

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

/// A program with tasks 1 … Tasks.
template <class Ring, int Tasks>
class claimed_ring_program : public scenario {
 protected:
  void push(Ring& r, int id) {
    task* const t = tasks.make(id);
    if (!r.push(t)) tasks.run(t);
  }
  void run(task* t) {
    if (t != nullptr) tasks.run(t);
  }
  template <class... Rings>
  void finish_with(Rings&... rings) {
    (drain(rings), ...);
    tasks.require_all_ran();
  }

  task_set<Tasks> tasks;

 private:
  void drain(Ring& r) {
    while (task* const t = r.pop()) tasks.run(t);
  }
};

}  // namespace runq::model::corpus
