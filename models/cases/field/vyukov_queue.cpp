// SPDX-License-Identifier: MIT
// Finding not-empty, in Vyukov's queue for many producers and consumers as xenium 0.0.2
// (xenium/vyukov_bounded_queue.hpp) and libcds 2.3.3 (cds/container/vyukov_mpmc_cycle_queue.h) have it.
//
//   1. T0: push 1. T1: push 2, pop → 1
//   2. T0: pop: fails to claim the element that T1 took, by a relaxed failure; reads the next cell's sequence and the
//      counter of pushes as they were before T1's push, and answers that the queue is empty
// Fix, in the port only: the counter of pops is claimed by acq_rel, and otherwise read by acquire.
// Caught by: exact (not linearizable); Relacy.
#include <array>
#include <cstddef>
#include <cstdint>

#include "linearize.hpp"
#include "ports.hpp"
#include "waiting.hpp"

namespace runq::model::field {
namespace {

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
