// SPDX-License-Identifier: MIT
// Chase and Lev's deque with the memory orders of Lê, Pop, Cohen and Zappa Nardelli (PPoPP 2013). The array is
// published and read as in the corrected version. `deque_traits` seeds the bugs of the corpus. The engines' own tests
// (models/selftest) pin how many execution graphs these operations have: change neither the number of the operations
// nor their sequence.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

#include "corpus.hpp"

namespace runq::model::corpus {

/// The defaults are correct; each seeded bug changes one of them.
struct deque_traits {
  std::size_t capacity = 2;
  std::memory_order push_top = acquire;
  std::memory_order push_fence = release;
  std::memory_order pop_fence = seq_cst;
  std::memory_order pop_claim = seq_cst;
  std::memory_order steal_top = acquire;
  std::memory_order steal_fence = seq_cst;
  std::memory_order steal_bottom = acquire;
  std::memory_order steal_claim = seq_cst;
  std::memory_order array_publish = release;
  std::memory_order array_read = acquire;
  bool steal_has_fence = true;
  bool push_uses_new_array = true;
  bool signed_indices = true;
  bool slot_read_before_claim = true;
};

/// `Traits` is a constant, or a variable that a test sets before its search. `Element{}` means that there is none.
template <const deque_traits& Traits, class Element>
class basic_deque {
 public:
  basic_deque() { array_.store(make_array(Traits.capacity), relaxed); }
  basic_deque(const basic_deque&) = delete;
  basic_deque& operator=(const basic_deque&) = delete;
  ~basic_deque() {
    for (std::size_t i = 0; i != used_; ++i) destroy(arrays_[i]);
  }

  // For the owner only.
  void push(Element x) {
    const std::int64_t b = bottom_.load(relaxed);
    const std::int64_t top = top_.load(Traits.push_top);
    array* a = array_.load(relaxed);
    if (b - top > a->last()) {
      array* const larger = replace(a, 2 * a->size, top, b);
      if (Traits.push_uses_new_array) a = larger;
    }
    a->at(b).store(x, relaxed);
    atomics::fence(Traits.push_fence);
    bottom_.store(b + 1, relaxed);
  }
  Element pop() {
    const std::int64_t b = bottom_.load(relaxed) - 1;
    array* const a = array_.load(relaxed);
    bottom_.store(b, relaxed);
    atomics::fence(Traits.pop_fence);
    std::int64_t top = top_.load(relaxed);
    if (!at_most(top, b)) {
      bottom_.store(b + 1, relaxed);
      return Element{};
    }
    Element x = a->at(b).load(relaxed);
    if (top != b) return x;
    if (!top_.compare_exchange_strong(top, top + 1, Traits.pop_claim, relaxed)) x = Element{};
    bottom_.store(b + 1, relaxed);
    return x;
  }

  // For a thief: one attempt.
  Element steal() {
    std::int64_t top = top_.load(Traits.steal_top);
    if (Traits.steal_has_fence) atomics::fence(Traits.steal_fence);
    const std::int64_t b = bottom_.load(Traits.steal_bottom);
    if (at_most(b, top)) return Element{};
    array* const a = array_.load(Traits.array_read);
    atomic<Element>& slot = a->at(top);
    Element x{};
    if (Traits.slot_read_before_claim) x = slot.load(relaxed);
    if (!top_.compare_exchange_strong(top, top + 1, Traits.steal_claim, relaxed)) return Element{};
    if (!Traits.slot_read_before_claim) x = slot.load(relaxed);
    return x;
  }

 protected:
  struct array {
    explicit array(std::size_t n) : size(n) {}
    [[nodiscard]] atomic<Element>& at(std::int64_t i) { return slots[static_cast<std::uint64_t>(i) % size]; }
    [[nodiscard]] std::int64_t last() const { return static_cast<std::int64_t>(size) - 1; }

    const std::size_t size;  ///< plain: a thread that reads it has got the array's address from array_
    std::array<atomic<Element>, 8> slots;
  };

  /// Copies `first` … `end`-1 into an array of `size` slots and publishes that. Old arrays live as long as the deque.
  array* replace(array* old, std::size_t size, std::int64_t first, std::int64_t end) {
    array* const a = make_array(size);
    for (std::int64_t i = first; i != end; ++i) a->at(i).store(old->at(i).load(relaxed), relaxed);
    array_.store(a, Traits.array_publish);
    return a;
  }

  atomic<std::int64_t> top_{0};
  atomic<std::int64_t> bottom_{0};
  atomic<array*> array_{nullptr};

 private:
  array* make_array(std::size_t size) {
    array* const a = ::new (atomics::allocate(sizeof(array))) array(size);
    arrays_[used_++] = a;
    return a;
  }
  static void destroy(array* a) {
    a->~array();
    atomics::deallocate(a);
  }
  static bool at_most(std::int64_t a, std::int64_t b) {
    return Traits.signed_indices ? a <= b : static_cast<std::uint64_t>(a) <= static_cast<std::uint64_t>(b);
  }

  std::array<array*, 4> arrays_;  ///< owner only: the first used_ are in use
  std::size_t used_ = 0;
};

template <deque_traits Traits>
inline constexpr deque_traits constant_traits = Traits;
template <deque_traits Traits>
using deque = basic_deque<constant_traits<Traits>, task*>;

/// A program with one deque and tasks 1 … Tasks.
template <class Deque, int Tasks>
class deque_program : public scenario {
 protected:
  void push(int id) { queue.push(tasks.make(id)); }
  void pop() { run(queue.pop()); }
  void steal() { run(queue.steal()); }
  void run(task* t) {
    if (t != nullptr) tasks.run(t);
  }
  void finish() override {
    while (task* const t = queue.pop()) tasks.run(t);
    tasks.require_all_ran();
  }

  task_set<Tasks> tasks;
  Deque queue;
};

}  // namespace runq::model::corpus
