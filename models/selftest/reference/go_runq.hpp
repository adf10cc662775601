// SPDX-License-Identifier: MIT
// Go's local run queue as the engines' yardstick: a fixed sequence of shared operations with known graph counts.
//
// Not the shipped ring: that one may change, this one must not, because the counts in exact_test.cpp belong to exactly
// these operations. The memory orders stand in a table, so that a test can weaken one.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "atomics.hpp"
#include "scenario.hpp"
#include "waiting.hpp"

namespace runq::model::reference {

/// The orders of Go's run queue, by operation. Slots and the owner's reads of what only it writes are relaxed.
struct go_runq_orders {
  std::memory_order put_head = std::memory_order::acquire;
  std::memory_order put_tail = std::memory_order::release;
  std::memory_order get_head = std::memory_order::acquire;
  std::memory_order get_claim = std::memory_order::release;
  std::memory_order grab_head = std::memory_order::acquire;
  std::memory_order grab_tail = std::memory_order::acquire;
  std::memory_order grab_claim = std::memory_order::release;
  std::memory_order steal_head = std::memory_order::acquire;
  std::memory_order steal_tail = std::memory_order::release;
  std::memory_order slow_claim = std::memory_order::release;
  std::memory_order next_put = std::memory_order::acq_rel;
  std::memory_order next_get = std::memory_order::acq_rel;
  std::memory_order next_grab = std::memory_order::acq_rel;
};

/// Mistakes that can be seeded.
struct go_runq_bugs {
  bool plain_slots = false;        ///< slots are plain memory, as in Go
  bool claim_before_read = false;  ///< a thief copies the slots after it has claimed them
  bool no_recheck = false;         ///< a thief does not notice that head is older than tail by a whole round
  bool take_all = false;           ///< a thief takes everything, not half
};

inline go_runq_orders orders;
inline go_runq_bugs bugs;

/// A slot: relaxed atomic, or plain memory if that bug is seeded. Both exist, one is used.
class go_runq_slot {
 public:
  void store(int v) {
    if (bugs.plain_slots) {
      plain_.set(v);
    } else {
      atomic_.store(v, std::memory_order::relaxed);
    }
  }
  int load() const { return bugs.plain_slots ? plain_.get() : atomic_.load(std::memory_order::relaxed); }

 private:
  atomic<int> atomic_;
  cell<int> plain_;
};

template <unsigned Capacity>
class go_runq {
 public:
  static constexpr int nothing = 0;

  /// Owner only. `overflow(element)` receives what does not fit: the older half of the queue, and `element`.
  template <class Overflow>
  void put(int element, bool next, Overflow&& overflow) {
    if (next) {
      int old = runnext_.load(relaxed);
      while (!runnext_.compare_exchange_strong(old, element, orders.next_put, relaxed)) {
      }
      if (old == nothing) return;
      element = old;
    }
    for (retry_loop retry;;) {
      retry.iteration();
      const std::uint32_t h = head_.load(orders.put_head);
      const std::uint32_t t = tail_.load(relaxed);
      if (t - h < Capacity) {
        slots_[t % Capacity].store(element);
        tail_.store(t + 1, orders.put_tail);
        return;
      }
      if (put_slow(element, h, t, overflow)) return;
    }
  }

  /// Owner only.
  int get() {
    int next = runnext_.load(relaxed);
    if (next != nothing && runnext_.compare_exchange_strong(next, nothing, orders.next_get, relaxed)) return next;
    for (retry_loop retry;;) {
      retry.iteration();
      const std::uint32_t h = head_.load(orders.get_head);
      const std::uint32_t t = tail_.load(relaxed);
      if (t == h) return nothing;
      const int element = slots_[h % Capacity].load();
      std::uint32_t expected = h;
      if (head_.compare_exchange_strong(expected, h + 1, orders.get_claim, relaxed)) return element;
    }
  }

  /// Takes half of what `victim` has into this queue, whose owner calls; returns the newest of it.
  int steal_from(go_runq& victim, bool steal_next) {
    const std::uint32_t t = tail_.load(relaxed);
    std::uint32_t n = victim.grab(*this, t, steal_next);
    if (n == 0) return nothing;
    --n;
    const int element = slots_[(t + n) % Capacity].load();
    if (n == 0) return element;
    const std::uint32_t h = head_.load(orders.steal_head);
    require(t - h + n < Capacity, "steal: the thief's queue overflows");
    tail_.store(t + n, orders.steal_tail);
    return element;
  }

 private:
  static constexpr std::memory_order relaxed = std::memory_order::relaxed;

  template <class Overflow>
  bool put_slow(int element, std::uint32_t h, std::uint32_t t, Overflow&& overflow) {
    const std::uint32_t n = (t - h) / 2;
    std::array<int, Capacity / 2 + 1> batch{};
    for (std::uint32_t i = 0; i != n; ++i) batch[i] = slots_[(h + i) % Capacity].load();
    std::uint32_t expected = h;
    if (!head_.compare_exchange_strong(expected, h + n, orders.slow_claim, relaxed)) return false;
    for (std::uint32_t i = 0; i != n; ++i) overflow(batch[i]);
    overflow(element);
    return true;
  }

  std::uint32_t grab(go_runq& thief, std::uint32_t at, bool steal_next) {
    for (retry_loop retry;;) {
      retry.iteration();
      const std::uint32_t h = head_.load(orders.grab_head);
      const std::uint32_t t = tail_.load(orders.grab_tail);
      std::uint32_t n = t - h;
      if (!bugs.take_all) n -= n / 2;
      if (n == 0) {
        if (!steal_next) return 0;
        int next = runnext_.load(relaxed);
        if (next == nothing) return 0;
        if (!runnext_.compare_exchange_strong(next, nothing, orders.next_grab, relaxed)) continue;
        thief.slots_[at % Capacity].store(next);
        return 1;
      }
      if (n > (bugs.take_all ? Capacity : Capacity / 2)) {
        if (!bugs.no_recheck) continue;
        if (n > Capacity) n = Capacity;
      }
      if (!bugs.claim_before_read) copy_slots(thief, at, h, n);
      std::uint32_t expected = h;
      if (!head_.compare_exchange_strong(expected, h + n, orders.grab_claim, relaxed)) continue;
      if (bugs.claim_before_read) copy_slots(thief, at, h, n);
      return n;
    }
  }

  void copy_slots(go_runq& thief, std::uint32_t to, std::uint32_t from, std::uint32_t n) {
    for (std::uint32_t i = 0; i != n; ++i) {
      thief.slots_[(to + i) % Capacity].store(slots_[(from + i) % Capacity].load());
    }
  }

  atomic<std::uint32_t> head_{0};
  atomic<std::uint32_t> tail_{0};
  std::array<go_runq_slot, Capacity> slots_;
  atomic<int> runnext_{nothing};
};

/// What each thread does. Thread 0 owns the queue and follows `script`: p put, n put into runnext, g get. The others
/// each steal once into a queue of their own and then get until that is empty. In a chain, the second thief robs the
/// first.
struct go_runq_program {
  const char* script = "";
  unsigned thieves = 1;
  bool chain = false;
  bool steal_next = false;
};
inline go_runq_program go_program;

template <unsigned Capacity>
class go_runq_scenario final : public scenario {
 public:
  void thread(unsigned index) override {
    if (index == 0) {
      own();
    } else {
      steal(index);
    }
  }

  void finish() override {
    while (const int element = queues_[0].get()) consume(element);
    for (unsigned i = 1; i <= put_; ++i) require(seen_[i].value.load(relaxed) == 1, "an element was lost or doubled");
  }

 private:
  static constexpr std::memory_order relaxed = std::memory_order::relaxed;
  static constexpr unsigned max_elements = 8;
  struct counter {
    atomic<int> value{0};
  };

  void own() {
    for (const char* c = go_program.script; *c != '\0'; ++c) {
      if (*c == 'g') {
        consume(queues_[0].get());
        continue;
      }
      const int element = static_cast<int>(++put_);
      payload_[put_].set(10 * element);
      queues_[0].put(element, *c == 'n', [this](int e) { consume(e); });
    }
  }

  void steal(unsigned index) {
    auto& mine = queues_[index];
    auto& victim = queues_[go_program.chain ? index - 1 : 0];
    consume(mine.steal_from(victim, go_program.steal_next));
    while (const int element = mine.get()) consume(element);
  }

  void consume(int element) {
    if (element == 0) return;
    const auto i = static_cast<unsigned>(element);
    require(i < max_elements, "an element is garbage");
    require(payload_[i].get() == 10 * element, "an element's contents are wrong");
    require(seen_[i].value.fetch_add(1, relaxed) == 0, "an element was handed out twice");
  }

  std::array<go_runq<Capacity>, max_threads> queues_;
  std::array<cell<int>, max_elements> payload_;
  std::array<counter, max_elements> seen_;
  unsigned put_ = 0;
};

}  // namespace runq::model::reference
