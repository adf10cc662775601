// SPDX-License-Identifier: MIT
// timer_heap: what is to happen at certain times, a heap with four children per node; and how who has put something in
// takes it back, or ends, while it happens.
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

/// Times are in ns of any clock that does not jump. Any thread may call all of it; a lock of its own protects it, under
/// which it calls what is due. `List` is a std::vector, or what takes its place in a model.
template <class Atomics, template <class> class List>
class timer_heap {
  template <class T>
  using cell = typename Atomics::template cell<T>;

 public:
  using instant = std::int64_t;
  static constexpr instant never = std::numeric_limits<instant>::max();
  /// What is to happen later than time goes is due then, which is pending all the same.
  static constexpr instant end_of_time = never - 1;
  static constexpr std::size_t absent = ~std::size_t{0};

  /// One thing to happen. Belongs to whoever waits for it; in at most one heap.
  struct node {
    /// Called when it is due, under the heap's lock and after the node has left the heap: it may end the node's life. A
    /// return value other than `never` puts it back, to be called again then.
    instant (*fire)(node& self, instant now) = nullptr;
    instant when = 0;                 // under the heap's lock, while it is in
    cell<std::uint64_t> order{0};     // among equal times, first come, first served
    cell<std::size_t> place{absent};  // under the heap's lock

    /// It is in no heap, and its owner need not ask the one that it was in. By fire(), before `never` is returned, as
    /// the last thing that is done to the node; or by its owner.
    void forget_heap() noexcept {
      // [timer_heap.forget] release: pairs with [timer_heap.last_in]; weaker: the owner writes what a firing still
      // reads.
      heap_.store(nullptr, std::memory_order::release);
    }

   private:
    friend timer_heap;
    typename Atomics::template atomic<timer_heap*> heap_{nullptr};  // it was last put into; null: it is in none
  };

  timer_heap() noexcept : earliest_(never) {}
  timer_heap(const timer_heap&) = delete;
  timer_heap& operator=(const timer_heap&) = delete;

  /// When the earliest is due, or never. What has been fired has happened then. Takes no lock.
  [[nodiscard]] instant earliest() const noexcept {
    // [timer_heap.earliest] acquire: pairs with [timer_heap.publish]; weaker: a heap looks empty, and the task that the
    // last of its timers has woken is not seen.
    return earliest_.load(std::memory_order::acquire);
  }

  /// Puts `n` in, to be due at n.when. Throws std::bad_alloc. After that it may fire at any moment.
  void add(node& n) {
    const std::lock_guard lock(mutex_);
    // [timer_heap.add.heap] relaxed: for the owner, who puts it in, or is told by who does.
    n.heap_.store(this, std::memory_order::relaxed);
    n.when = std::min(n.when, end_of_time);
    put_in(n);
    publish();
  }

  /// Takes `n` out. False if it was not in: it has fired, completely, or never was. Either way nobody touches `n` any
  /// more, so that its owner may end.
  bool remove(node& n) noexcept {
    const std::lock_guard lock(mutex_);
    if (n.place.get() == absent) return false;
    take_out(n.place.get());
    // [timer_heap.remove.heap] relaxed: for the owner, who removes it, or is told by who does.
    n.heap_.store(nullptr, std::memory_order::relaxed);
    publish();
    return true;
  }
  /// Takes `n` out of the heap that it is in, if any. As remove(). Its owner.
  static bool withdraw(node& n) noexcept {
    // [timer_heap.last_in] acquire: pairs with [timer_heap.forget]; weaker: the owner writes what a firing still
    // reads.
    timer_heap* const heap = n.heap_.load(std::memory_order::acquire);
    return heap != nullptr && heap->remove(n);
  }

  /// Fires all that are due at `now`; returns how many.
  std::size_t fire_due(instant now) {
    std::size_t fired = 0;
    const std::lock_guard lock(mutex_);
    while (!nodes_.empty() && nodes_[0]->when <= now) {
      node& n = *nodes_[0];
      take_out(0);
      ++fired;
      const instant again = n.fire(n, now);
      if (again == never) continue;  // and `n` may be gone
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
  /// The heap ends before the nodes that are in it: they are in none any more.
  void clear() noexcept {
    const std::lock_guard lock(mutex_);
    for (node* const n : nodes_) {
      n->place.set(absent);
      // [timer_heap.clear.heap] relaxed: for the owner, who outlives the heap, and is ordered after its end.
      n->heap_.store(nullptr, std::memory_order::relaxed);
    }
    nodes_.clear();
    publish();
  }

 private:
  static constexpr std::size_t arity = 4;

  // All of the following under mutex_.

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
    // [timer_heap.publish] release: pairs with [timer_heap.earliest]: what was fired has happened.
    earliest_.store(nodes_.empty() ? never : nodes_[0]->when, std::memory_order::release);
  }

  mutable typename Atomics::mutex mutex_;
  List<node*> nodes_;        // under mutex_
  std::uint64_t added_ = 0;  // under mutex_
  typename Atomics::template atomic<instant> earliest_;
};

}  // namespace runq
