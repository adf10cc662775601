// SPDX-License-Identifier: MIT
// Chase and Lev's deque with the memory orders of Lê, Pop, Cohen and Zappa Nardelli (PPoPP 2013), the array's published
// and read as the corrected version does it; and the places where history got it wrong.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

#include "corpus.hpp"

namespace runq::model::corpus {

/// The defaults are right; a seed changes one of them.
struct deque_traits {
  std::size_t capacity = 2;
  std::memory_order array_publish = release;
  std::memory_order array_read = acquire;
  std::memory_order steal_top = acquire;
  std::memory_order steal_claim = seq_cst;
  bool steal_fence = true;
  bool push_uses_new_array = true;
  bool signed_indices = true;
  bool slot_read_before_claim = true;
};

template <deque_traits Traits>
class deque {
 public:
  deque() { array_.store(make_array(Traits.capacity), relaxed); }
  deque(const deque&) = delete;
  deque& operator=(const deque&) = delete;
  ~deque() {
    for (std::size_t i = 0; i != used_; ++i) destroy(arrays_[i]);
  }

  // The owner's.
  void push(task* t) {
    const std::int64_t b = bottom_.load(relaxed);
    const std::int64_t top = top_.load(acquire);
    array* a = array_.load(relaxed);
    if (b - top > a->last()) {
      array* const larger = replace(a, 2 * a->size, top, b);
      if (Traits.push_uses_new_array) a = larger;
    }
    a->at(b).store(t, relaxed);
    atomics::fence(release);
    bottom_.store(b + 1, relaxed);
  }
  task* pop() {
    const std::int64_t b = bottom_.load(relaxed) - 1;
    array* const a = array_.load(relaxed);
    bottom_.store(b, relaxed);
    atomics::fence(seq_cst);
    std::int64_t top = top_.load(relaxed);
    if (!at_most(top, b)) {
      bottom_.store(b + 1, relaxed);
      return nullptr;
    }
    task* t = a->at(b).load(relaxed);
    if (top != b) return t;
    if (!top_.compare_exchange_strong(top, top + 1, seq_cst, relaxed)) t = nullptr;
    bottom_.store(b + 1, relaxed);
    return t;
  }

  // A thief's: one attempt.
  task* steal() {
    std::int64_t top = top_.load(Traits.steal_top);
    if (Traits.steal_fence) atomics::fence(seq_cst);
    const std::int64_t b = bottom_.load(acquire);
    if (at_most(b, top)) return nullptr;
    array* const a = array_.load(Traits.array_read);
    atomic<task*>& slot = a->at(top);
    task* t = nullptr;
    if (Traits.slot_read_before_claim) t = slot.load(relaxed);
    if (!top_.compare_exchange_strong(top, top + 1, Traits.steal_claim, relaxed)) return nullptr;
    if (!Traits.slot_read_before_claim) t = slot.load(relaxed);
    return t;
  }

 protected:
  struct array {
    explicit array(std::size_t n) : size(n) {}
    [[nodiscard]] atomic<task*>& at(std::int64_t i) { return slots[static_cast<std::uint64_t>(i) % size]; }
    [[nodiscard]] std::int64_t last() const { return static_cast<std::int64_t>(size) - 1; }

    const std::size_t size;  ///< not watched: whoever reads it has the array's address from array_
    std::array<atomic<task*>, 4> slots;
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

  std::array<array*, 3> arrays_;  ///< the owner's notes: the first used_
  std::size_t used_ = 0;
};

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
