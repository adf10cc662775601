// SPDX-License-Identifier: MIT
// Go's bounded run queue with counters of 8 bits. `ring_traits` seeds bugs that such rings have had.
#pragma once

#include <array>
#include <cstdint>

#include "corpus.hpp"
#include "waiting.hpp"

namespace runq::model::corpus {

/// The defaults are correct; each seeded bug changes one of them.
struct ring_traits {
  unsigned capacity = 2;
  bool atomic_slots = true;
  bool wrapping_add = true;
  bool knows_itself = true;
};

/// A slot: a relaxed atomic, or plain memory as in Go.
template <bool Atomic>
class ring_slot {
 public:
  void store(task* t) { value_.store(t, relaxed); }
  [[nodiscard]] task* load() const { return value_.load(relaxed); }

 private:
  atomic<task*> value_{nullptr};
};
template <>
class ring_slot<false> {
 public:
  void store(task* t) { value_.set(t); }
  [[nodiscard]] task* load() const { return value_.get(); }

 private:
  cell<task*> value_{nullptr};
};

template <ring_traits Traits>
class ring {
 public:
  using counter = std::uint8_t;
  explicit ring(counter first = 0) : head_(first), tail_(first) {}

  // For the owner only.
  bool push(task* t) {
    const counter h = head_.load(acquire);
    const counter end = tail_.load(relaxed);
    if (full(h, end)) return false;
    slot(end).store(t);
    tail_.store(static_cast<counter>(end + 1), release);
    return true;
  }
  task* pop() {
    const counter end = tail_.load(relaxed);
    for (retry_loop retry;;) {
      retry.iteration();
      counter h = head_.load(acquire);
      if (h == end) return nullptr;
      task* const t = slot(h).load();
      if (head_.compare_exchange_strong(h, static_cast<counter>(h + 1), release, relaxed)) return t;
    }
  }

  // For a thief: one attempt. Moves half of the ring's tasks to `mine`, which the caller owns, and returns the newest
  // one. As in Go, it does not ask whether `mine` has room: a thief's own ring is empty.
  task* steal_half_into(ring& mine) {
    if (Traits.knows_itself && &mine == this) return nullptr;
    const counter to = mine.tail_.load(relaxed);
    counter h = head_.load(acquire);
    const counter end = tail_.load(acquire);
    const auto available = static_cast<counter>(end - h);
    if (available == 0 || available > Traits.capacity) return nullptr;
    const auto n = static_cast<counter>(available - available / 2);
    for (counter i = 0; i != n; ++i)
      mine.slot(static_cast<counter>(to + i)).store(slot(static_cast<counter>(h + i)).load());
    if (!head_.compare_exchange_strong(h, static_cast<counter>(h + n), release, relaxed)) return nullptr;
    const auto published = static_cast<counter>(to + n - 1);
    if (n != 1) mine.tail_.store(published, release);
    return mine.slot(published).load();
  }
  // Steals one task and returns it, so the thief needs no ring.
  task* steal() {
    counter h = head_.load(acquire);
    const counter end = tail_.load(acquire);
    const auto available = static_cast<counter>(end - h);
    if (available == 0 || available > Traits.capacity) return nullptr;
    task* const t = slot(h).load();
    return head_.compare_exchange_strong(h, static_cast<counter>(h + 1), release, relaxed) ? t : nullptr;
  }

 private:
  [[nodiscard]] static bool full(counter h, counter end) {
    const int after_a_round = h + static_cast<int>(Traits.capacity);
    return (Traits.wrapping_add ? static_cast<counter>(after_a_round) : after_a_round) == end;
  }
  [[nodiscard]] ring_slot<Traits.atomic_slots>& slot(counter at) { return slots_[at % Traits.capacity]; }

  atomic<counter> head_;
  atomic<counter> tail_;
  std::array<ring_slot<Traits.atomic_slots>, Traits.capacity> slots_;
};

/// A program with tasks 1 … Tasks.
template <class Ring, int Tasks>
class ring_program : public scenario {
 protected:
  /// Pushes task `id`; a task that does not fit is run by the pusher.
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
