// SPDX-License-Identifier: MIT
// Chase-Lev's deque with the memory orders of Lê, Pop, Cohen and Zappa Nardelli (PPoPP 2013) as the engines' yardstick:
// a fixed sequence of shared operations with known graph counts, bugs that history knows, and orders to weaken.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "atomics.hpp"
#include "scenario.hpp"
#include "waiting.hpp"

namespace runq::model::reference {

struct chase_lev_orders {
  std::memory_order take_fence = std::memory_order::seq_cst;
  std::memory_order take_claim = std::memory_order::seq_cst;
  std::memory_order push_top = std::memory_order::acquire;
  std::memory_order push_fence = std::memory_order::release;
  std::memory_order steal_top = std::memory_order::acquire;
  std::memory_order steal_fence = std::memory_order::seq_cst;
  std::memory_order steal_bottom = std::memory_order::acquire;
  std::memory_order steal_array = std::memory_order::acquire;
  std::memory_order steal_claim = std::memory_order::seq_cst;
  std::memory_order grow_array = std::memory_order::release;
};

struct chase_lev_bugs {
  bool keeps_old_array = false;   ///< push goes on with the array that it has just outgrown
  bool late_read = false;         ///< a thief reads the slot after it has claimed it
  bool unsigned_indices = false;  ///< take on an empty deque at 0 sees a huge size
};

inline chase_lev_orders deque_orders;
inline chase_lev_bugs deque_bugs;

class chase_lev_2013 {
 public:
  static constexpr int empty = 0;
  static constexpr int lost = -1;

  chase_lev_2013() {
    arrays_[used_++] = make_array(2);
    array_.store(arrays_[0], relaxed);
  }
  chase_lev_2013(const chase_lev_2013&) = delete;
  chase_lev_2013& operator=(const chase_lev_2013&) = delete;
  ~chase_lev_2013() {
    for (unsigned i = 0; i != used_; ++i) current_engine().deallocate(arrays_[i], {__FILE__, __LINE__});
  }

  void push(int x) {
    const std::int64_t b = bottom_.load(relaxed);
    const std::int64_t t = top_.load(deque_orders.push_top);
    buffer* a = array_.load(relaxed);
    if (b - t > a->size - 1) {
      buffer* const bigger = grow(a, t, b);
      if (!deque_bugs.keeps_old_array) a = bigger;
    }
    a->at(b).store(x, relaxed);
    atomics::fence(deque_orders.push_fence);
    bottom_.store(b + 1, relaxed);
  }

  int take() {
    const std::int64_t b = bottom_.load(relaxed) - 1;
    buffer* const a = array_.load(relaxed);
    bottom_.store(b, relaxed);
    atomics::fence(deque_orders.take_fence);
    std::int64_t t = top_.load(relaxed);
    if (!at_most(t, b)) {
      bottom_.store(b + 1, relaxed);
      return empty;
    }
    int x = a->at(b).load(relaxed);
    if (t == b) {
      if (!top_.compare_exchange_strong(t, t + 1, deque_orders.take_claim, relaxed)) x = empty;
      bottom_.store(b + 1, relaxed);
    }
    return x;
  }

  int steal() {
    const std::int64_t t = top_.load(deque_orders.steal_top);
    atomics::fence(deque_orders.steal_fence);
    const std::int64_t b = bottom_.load(deque_orders.steal_bottom);
    if (at_most(b, t)) return empty;
    buffer* const a = array_.load(deque_orders.steal_array);
    int x = empty;
    if (!deque_bugs.late_read) x = a->at(t).load(relaxed);
    std::int64_t expected = t;
    if (!top_.compare_exchange_strong(expected, t + 1, deque_orders.steal_claim, relaxed)) return lost;
    if (deque_bugs.late_read) x = a->at(t).load(relaxed);
    return x;
  }

 private:
  static constexpr std::memory_order relaxed = std::memory_order::relaxed;

  /// The size is plain memory that no checker watches, as in the original program.
  struct buffer {
    explicit buffer(std::int64_t n) : size(n) {}
    atomic<int>& at(std::int64_t i) { return slots[static_cast<std::uint64_t>(i) % static_cast<std::uint64_t>(size)]; }
    std::int64_t size;
    std::array<atomic<int>, 8> slots;
  };

  static buffer* make_array(std::int64_t size) {
    return ::new (current_engine().allocate(sizeof(buffer), {__FILE__, __LINE__})) buffer(size);
  }

  static bool at_most(std::int64_t a, std::int64_t b) {
    return deque_bugs.unsigned_indices ? static_cast<std::uint64_t>(a) <= static_cast<std::uint64_t>(b) : a <= b;
  }

  buffer* grow(buffer* old, std::int64_t t, std::int64_t b) {
    buffer* const bigger = make_array(old->size * 2);
    for (std::int64_t i = t; i < b; ++i) bigger->at(i).store(old->at(i).load(relaxed), relaxed);
    arrays_[used_++] = bigger;
    array_.store(bigger, deque_orders.grow_array);
    return bigger;
  }

  atomic<std::int64_t> top_{0};
  atomic<std::int64_t> bottom_{0};
  atomic<buffer*> array_{nullptr};
  std::array<buffer*, 4> arrays_{};  ///< the owner's: all arrays so far
  unsigned used_ = 0;
};

/// Thread 0 follows `script` (p push, t take); `thieves` threads each try to steal `steals` times; then main drains.
struct chase_lev_program {
  const char* script = "ppptt";
  unsigned thieves = 1;
  unsigned steals = 1;
};
inline chase_lev_program deque_program;

class chase_lev_scenario final : public scenario {
 public:
  void thread(unsigned index) override {
    if (index != 0) {
      for (unsigned i = 0; i != deque_program.steals; ++i) consume(deque_.steal());
      return;
    }
    for (const char* c = deque_program.script; *c != '\0'; ++c) {
      if (*c == 't') {
        consume(deque_.take());
        continue;
      }
      const int element = static_cast<int>(++pushed_);
      payload_[pushed_].set(10 * element);
      deque_.push(element);
    }
  }

  void finish() override {
    while (const int element = deque_.take()) consume(element);
    for (unsigned i = 1; i <= pushed_; ++i) require(seen_[i] == 1, "an element was lost or doubled");
  }

 private:
  static constexpr unsigned max_elements = 8;

  void consume(int element) {
    if (element == chase_lev_2013::empty || element == chase_lev_2013::lost) return;
    const auto i = static_cast<unsigned>(element);
    require(i < max_elements, "an element is garbage");
    require(payload_[i].get() == 10 * element, "an element's contents are wrong");
    require(++seen_[i] == 1, "an element was handed out twice");
  }

  chase_lev_2013 deque_;
  std::array<cell<int>, max_elements> payload_;
  std::array<unsigned, max_elements> seen_{};  ///< notes, not shared state
  unsigned pushed_ = 0;
};

}  // namespace runq::model::reference
