// SPDX-License-Identifier: MIT
// Bounded queues for many producers and consumers: findings not-empty and no-acquire.
#include <array>
#include <cstddef>
#include <cstdint>

#include "linearize.hpp"
#include "ports.hpp"
#include "waiting.hpp"

namespace runq::model::field {
namespace {

// Findings not-empty and no-acquire: atomic_queue's AtomicQueue for many producers and consumers, of 2022
// (atomic_queue/atomic_queue.h), with try_push and try_pop.
//
// field/atomic_queue_not_empty:
//   1. T0: push 1. T1: push 2, pop → 1
//   2. T0: pop: fails to claim the element that T1 took, by a relaxed failure; reads the counter of pushes as it was
//      before T1's push, and answers that the queue is empty, although task 2 is in it and 1 was before
// Fix, in the port only: claims are acq_rel, and the other accesses to the counter of pops acquire.
//
// field/atomic_queue_no_acquire:
//   1. producer: writes what the element points at, and puts the element in by a release compare-exchange
//   2. consumer: takes the element out by a release exchange, which acquires nothing, and reads what it points at
// Fix: an acquire exchange, as upstream has it now.
// Caught by: exact, both (not linearizable; data race); Relacy, both.

/// The memory orders that the two findings are about.
struct queue_orders {
  std::memory_order pop_counter = relaxed;
  std::memory_order pop_claim = acquire;
  std::memory_order take = release;
};

template <queue_orders Orders>
class queue {
 public:
  bool push(task* item) {
    unsigned head = head_.load(relaxed);
    do {
      if (static_cast<int>(head - tail_.load(relaxed)) >= static_cast<int>(slots_.size())) return false;
    } while (!head_.compare_exchange_strong(head, head + 1, acquire, relaxed));
    atomic<task*>& slot = slots_[head % slots_.size()];
    for (task* none = nullptr; !slot.compare_exchange_strong(none, item, release, relaxed); none = nullptr) {
      await([&slot] { return slot.load(relaxed) == nullptr; });
    }
    return true;
  }
  task* pop() {
    unsigned tail = tail_.load(Orders.pop_counter);
    do {
      if (static_cast<int>(head_.load(relaxed) - tail) <= 0) return nullptr;
    } while (!tail_.compare_exchange_strong(tail, tail + 1, Orders.pop_claim, Orders.pop_counter));
    atomic<task*>& slot = slots_[tail % slots_.size()];
    for (;;) {
      if (task* const item = slot.exchange(nullptr, Orders.take)) return item;
      await([&slot] { return slot.load(relaxed) != nullptr; });
    }
  }

 private:
  atomic<unsigned> head_{0};
  atomic<unsigned> tail_{0};
  std::array<atomic<task*>, 4> slots_{nullptr, nullptr, nullptr, nullptr};
};

// Two threads, each: push pop. Only the answers are judged, not what the elements point at.
template <queue_orders Orders>
struct push_and_pop final : scenario {
  void thread(unsigned index) override {
    const std::array ids{static_cast<int>(index) + 1};
    moment began = history<4, 2>::begin();
    require(inside.push(tasks.get(ids[0])), "a push finds a queue of four full");
    calls.add(began, op_kind::append, ids);
    began = history<4, 2>::begin();
    const task* const taken = inside.pop();
    if (taken == nullptr) return calls.add(began, op_kind::find_empty, {});
    calls.add(began, op_kind::take_front, std::array{tasks.id_of(taken)});
  }
  void finish() override { calls.require_linearizable(); }

  task_set<2> tasks;
  queue<Orders> inside;
  history<4, 2> calls;
};

// Producer: push ‖ consumer: pop.
template <queue_orders Orders>
struct hand_over final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      inside.push(tasks.make(1));
    } else if (task* const taken = inside.pop()) {
      tasks.run(taken);
    }
  }

  task_set<1> tasks;
  queue<Orders> inside;
};

// Finding not-empty, in Vyukov's queue for many producers and consumers as xenium 0.0.2
// (xenium/vyukov_bounded_queue.hpp) and libcds 2.3.3 (cds/container/vyukov_mpmc_cycle_queue.h) have it.
//
//   1. T0: push 1. T1: push 2, pop → 1
//   2. T0: pop: fails to claim the element that T1 took, by a relaxed failure; reads the next cell's sequence and the
//      counter of pushes as they were before T1's push, and answers that the queue is empty
// Fix, in the port only: the counter of pops is claimed by acq_rel, and otherwise read by acquire.
// Caught by: exact (not linearizable); Relacy.

template <bug Bug>
class vyukov_queue {
 public:
  vyukov_queue() {
    for (std::size_t i = 0; i != cells_.size(); ++i) cells_[i].sequence.store(i, relaxed);
  }
  bool push(int value) {
    std::size_t at = pushes_.load(relaxed);
    for (;;) {
      slot& s = cells_[at % cells_.size()];
      const std::size_t sequence = s.sequence.load(acquire);
      require(sequence >= at, "limit reached: the port's queue is never full");
      if (sequence != at) {
        at = pushes_.load(relaxed);
      } else if (pushes_.compare_exchange_strong(at, at + 1, relaxed, relaxed)) {
        s.value.set(value);
        s.sequence.store(at + 1, release);
        return true;
      }
    }
  }
  /// 0: empty.
  int pop() {
    std::size_t at = pops_.load(look);
    for (;;) {
      slot& s = cells_[at % cells_.size()];
      const std::size_t sequence = s.sequence.load(acquire);
      if (sequence == at + 1) {
        if (!pops_.compare_exchange_strong(at, at + 1, claim, look)) continue;
        const int value = s.value.get();
        s.sequence.store(at + cells_.size(), release);
        return value;
      }
      if (sequence < at + 1) {
        if (at == pushes_.load(relaxed)) return 0;
        await([&s, at] { return s.sequence.load(relaxed) > at; });
      }
      at = pops_.load(look);
    }
  }

 private:
  static constexpr std::memory_order look = Bug == bug::seeded ? relaxed : acquire;
  static constexpr std::memory_order claim = Bug == bug::seeded ? relaxed : acq_rel;

  struct slot {
    atomic<std::size_t> sequence{0};
    cell<int> value;
  };
  std::array<slot, 4> cells_;
  atomic<std::size_t> pushes_{0};
  atomic<std::size_t> pops_{0};
};

// Two threads, each: push pop.
template <bug Bug>
struct push_and_pop_vyukov final : scenario {
  void thread(unsigned index) override {
    const std::array pushed{static_cast<int>(index) + 1};
    moment began = history<4, 2>::begin();
    inside.push(pushed[0]);
    calls.add(began, op_kind::append, pushed);
    began = history<4, 2>::begin();
    const std::array taken{inside.pop()};
    if (taken[0] == 0) return calls.add(began, op_kind::find_empty, {});
    calls.add(began, op_kind::take_front, taken);
  }
  void finish() override { calls.require_linearizable(); }

  vyukov_queue<Bug> inside;
  history<4, 2> calls;
};

const bool added[] = {
    add_case<push_and_pop<queue_orders{}>>({
        .name = "field/atomic_queue_not_empty",
        .property = "a pop answers that a queue is empty only if it was: push pop ‖ push pop",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<push_and_pop<queue_orders{.pop_counter = acquire, .pop_claim = acq_rel}>>({
        .name = "field/fixed_atomic_queue_not_empty",
        .property = "a pop answers that a queue is empty only if it was: push pop ‖ push pop",
        .threads = 2,
    }),
    add_case<hand_over<queue_orders{}>>({
        .name = "field/atomic_queue_no_acquire",
        .property = "what an element points at arrives with it: push ‖ pop",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<hand_over<queue_orders{.take = acquire}>>({
        .name = "field/fixed_atomic_queue_acquires",
        .property = "what an element points at arrives with it: push ‖ pop",
        .threads = 2,
    }),
    add_case<push_and_pop_vyukov<bug::seeded>>({
        .name = "field/vyukov_queue_not_empty",
        .property = "a pop answers that a queue is empty only if it was: push pop ‖ push pop",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<push_and_pop_vyukov<bug::fixed>>({
        .name = "field/fixed_vyukov_queue_not_empty",
        .property = "a pop answers that a queue is empty only if it was: push pop ‖ push pop",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model::field
