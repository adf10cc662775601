// SPDX-License-Identifier: MIT
// timer_heap: callbacks that are due at certain times, in a heap with four children per node; and how the owner of a
// node removes it, or destroys it, while it may be firing.
//
// Source: the timers of Go's processors (runtime/time.go). Models: models/cases/scheduler/timer_heap/.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

#include "runq/atomics.hpp"

namespace runq {

/// Times are in ns of a clock that never goes back. Any thread may call all operations. The heap has a lock, and calls
/// the callbacks that are due while it holds the lock. `List` is a std::vector; a model has its own.
template <class Atomics, template <class> class List>
class timer_heap {
  template <class T>
  using cell = typename Atomics::template cell<T>;

 public:
  using instant = std::int64_t;
  static constexpr instant never = std::numeric_limits<instant>::max();
  /// The latest time there is. A node that would be due later is due then, and is pending like all others.
  static constexpr instant end_of_time = never - 1;
  static constexpr std::size_t absent = ~std::size_t{0};

  /// One callback. It belongs to the task or object that waits for it, and is in at most one heap.
  struct node {
    /// Called when the node is due, under the heap's lock, after the node has left the heap: it may destroy the node.
    /// If it returns a time other than `never`, the node goes back into the heap and is due again then.
    instant (*fire)(node& self, instant now) = nullptr;
    instant when = 0;                 // under the heap's lock, while the node is in a heap
    cell<std::uint64_t> order{0};     // nodes with equal times fire in the order in which they were added
    cell<std::size_t> place{absent};  // under the heap's lock

    /// Marks the node as in no heap, so its owner need not ask the heap that it was in. Called by fire(), as the last
    /// thing that it does to the node, before it returns `never`; or called by the owner.
    void forget_heap() noexcept {
      // [timer_heap.forget] release: pairs with [timer_heap.last_in]; weaker: the owner writes what a callback still
      // reads.
      heap_.store(nullptr, std::memory_order::release);
    }

   private:
    friend timer_heap;
    typename Atomics::template atomic<timer_heap*> heap_{nullptr};  // the heap that it was last put into, or null
  };

  timer_heap() noexcept : earliest_(never) {}
  timer_heap(const timer_heap&) = delete;
  timer_heap& operator=(const timer_heap&) = delete;

  /// When the earliest node is due, or never. A thread that reads `never` sees what the callbacks before did. Takes no
  /// lock.
  [[nodiscard]] instant earliest() const noexcept {
    // [timer_heap.earliest] acquire: pairs with [timer_heap.publish]; weaker: the heap looks empty, and the reader does
    // not see the task that the heap's last timer has woken.
    return earliest_.load(std::memory_order::acquire);
  }

  /// Adds `n`, which is due at n.when. Throws std::bad_alloc. After this call `n` may fire at any moment.
  void add(node& n) {
    const std::lock_guard lock(mutex_);
    // [timer_heap.add.heap] relaxed: only the owner reads it: the thread that adds the node, or one that it has
    // synchronised with.
    n.heap_.store(this, std::memory_order::relaxed);
    n.when = std::min(n.when, end_of_time);
    put_in(n);
    publish();
  }

  /// Removes `n`. Returns false if `n` was not in the heap: its callback has returned, or `n` was never added. In both
  /// cases no thread touches `n` after this call, so the owner may destroy it.
  bool remove(node& n) noexcept {
    const std::lock_guard lock(mutex_);
    if (n.place.get() == absent) return false;
    take_out(n.place.get());
    // [timer_heap.remove.heap] relaxed: only the owner reads it: the thread that removes the node, or one that it has
    // synchronised with.
    n.heap_.store(nullptr, std::memory_order::relaxed);
    publish();
    return true;
  }
  /// Removes `n` from the heap that it is in, if any; see remove(). Called by its owner.
  static bool withdraw(node& n) noexcept {
    // [timer_heap.last_in] acquire: pairs with [timer_heap.forget]; weaker: the owner writes what a callback still
    // reads.
    timer_heap* const heap = n.heap_.load(std::memory_order::acquire);
    return heap != nullptr && heap->remove(n);
  }

  /// Fires all nodes that are due at `now`; returns how many.
  std::size_t fire_due(instant now) {
    std::size_t fired = 0;
    const std::lock_guard lock(mutex_);
    while (!nodes_.empty() && nodes_[0]->when <= now) {
      node& n = *nodes_[0];
      take_out(0);
      ++fired;
      const instant again = n.fire(n, now);
      if (again == never) continue;  // and the callback may have destroyed `n`
      n.when = again;
      put_in(n);
    }
    publish();
    return fired;
  }

  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return nodes_.size();
  }
  /// Empties the heap before it is destroyed: its nodes are then in no heap.
  void clear() noexcept {
    const std::lock_guard lock(mutex_);
    for (node* const n : nodes_) {
      n->place.set(absent);
      // [timer_heap.clear.heap] relaxed: only the owner reads it, which outlives the heap and runs after the heap's
      // end.
      n->heap_.store(nullptr, std::memory_order::relaxed);
    }
    nodes_.clear();
    publish();
  }

 private:
  static constexpr std::size_t arity = 4;

  // The caller of all functions below holds mutex_.

  [[nodiscard]] static bool before(const node& a, const node& b) noexcept {
    return a.when != b.when ? a.when < b.when : a.order.get() < b.order.get();
  }
  void set(std::size_t place, node& n) noexcept {
    nodes_[place] = &n;
    n.place.set(place);
  }
  void put_in(node& n) {
    nodes_.push_back(&n);
    n.order.set(added_++);
    n.place.set(nodes_.size() - 1);
    sift_up(nodes_.size() - 1);
  }
  void take_out(std::size_t place) noexcept {
    nodes_[place]->place.set(absent);
    node* const last = nodes_.back();
    nodes_.pop_back();
    if (place == nodes_.size()) return;
    set(place, *last);
    sift_up(place);
    sift_down(last->place.get());
  }
  void sift_up(std::size_t place) noexcept {
    node& n = *nodes_[place];
    while (place != 0) {
      const std::size_t parent = (place - 1) / arity;
      if (!before(n, *nodes_[parent])) break;
      set(place, *nodes_[parent]);
      place = parent;
    }
    set(place, n);
  }
  void sift_down(std::size_t place) noexcept {
    node& n = *nodes_[place];
    for (;;) {
      const std::size_t first = place * arity + 1;
      if (first >= nodes_.size()) break;
      std::size_t least = first;
      for (std::size_t child = first + 1; child < std::min(first + arity, nodes_.size()); ++child) {
        if (before(*nodes_[child], *nodes_[least])) least = child;
      }
      if (!before(*nodes_[least], n)) break;
      set(place, *nodes_[least]);
      place = least;
    }
    set(place, n);
  }
  void publish() noexcept {
    // [timer_heap.publish] release: pairs with [timer_heap.earliest]: a reader of the new time sees what the callbacks
    // did.
    earliest_.store(nodes_.empty() ? never : nodes_[0]->when, std::memory_order::release);
  }

  mutable typename Atomics::mutex mutex_;
  List<node*> nodes_;        // under mutex_
  std::uint64_t added_ = 0;  // under mutex_
  typename Atomics::template atomic<instant> earliest_;
};

}  // namespace runq
