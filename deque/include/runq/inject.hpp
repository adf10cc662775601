// SPDX-License-Identifier: MIT
// inject: the global queue that all processors share: an intrusive FIFO list under a lock, fed and emptied in batches.
//
// Source of the algorithm: the global run queue of Go's scheduler (runtime/proc.go: globrunqput, globrunqputbatch,
// globrunqget). Contract, protocol and rejected designs: docs/queues/inject.md. Models: models/cases/queues/inject/.
#pragma once

#if __cplusplus <= 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG <= 201703L)
#error "runqkit needs C++20: compile with -std=c++20, or as your compiler calls it"
#else

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <utility>

#include "runq/atomics.hpp"
#include "runq/common.hpp"

namespace runq {

/// The link that an element carries to be queued: one pointer, null while the element is in no list. Only the thread
/// that holds the element, or the lock of the queue that it is in, may use it.
template <class T, class Atomics = std_atomics>
struct inject_link {
  typename Atomics::template cell<T*> next{nullptr};
};

namespace detail {

template <class Link>
struct link_traits {
  static_assert(!sizeof(Link*),
                "runq: a link must be a pointer to a member of type runq::inject_link<element>, where `element` is the "
                "class that declares the member, as in runq::inject<&task::link>");
  using element = void;
  using atomics = std_atomics;
};
template <class T, class Atomics>
struct link_traits<inject_link<T, Atomics> T::*> {
  using element = T;
  using atomics = Atomics;
};

}  // namespace detail

/// A list of elements that one thread holds, such as a batch on its way between queues. It is not shared, so not
/// synchronised. Move-only. In debug builds the destructor ends the program if elements are left, which would be lost.
///
/// Link  pointer to the member of type inject_link, as in `inject_chain<&task::link>`
template <auto Link>
class inject_chain {
  using traits = detail::link_traits<decltype(Link)>;

 public:
  using element = typename traits::element;

  inject_chain() noexcept = default;
  inject_chain(inject_chain&& other) noexcept { swap(other); }
  inject_chain& operator=(inject_chain&& other) noexcept {
    inject_chain moved(std::move(other));
    swap(moved);
    return *this;
  }
  inject_chain(const inject_chain&) = delete;
  inject_chain& operator=(const inject_chain&) = delete;
  ~inject_chain() { traits::atomics::check(empty(), "inject_chain: destroyed with elements in it; they are lost"); }

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// Appends one element, which must be in no list; debug builds end the program if it is in one. O(1).
  void push_back(element* e) noexcept {
    traits::atomics::check(
        next(e).get() == nullptr,
        "inject: an element was put that is in a queue or chain already; it can be in one at a time");
    next(e).set(e);
    append(e, e, 1);
  }

  /// Removes the first element, or returns nullptr when there is none. O(1).
  [[nodiscard]] element* pop_front() noexcept {
    if (empty()) return nullptr;
    element* const e = first_;
    first_ = next(e).get();
    next(e).set(nullptr);
    if (--size_ == 0) forget();
    return e;
  }

  /// Appends all of `tail`, in order, and leaves it empty. O(1).
  void splice(inject_chain&& tail) noexcept {
    if (tail.empty()) return;
    append(tail.first_, tail.last_, tail.size_);
    tail.forget();
  }

  /// Removes the first `n` elements, at most size(), as a chain of their own. O(n).
  [[nodiscard]] inject_chain cut_front(std::size_t n) noexcept {
    inject_chain front;
    if (n >= size_) {
      front.swap(*this);
      return front;
    }
    if (n == 0) return front;
    element* last = first_;
    for (std::size_t i = 1; i != n; ++i) last = next(last).get();
    element* const rest = next(last).get();
    next(last).set(last);
    front.append(first_, last, n);
    first_ = rest;
    size_ -= n;
    return front;
  }

  void swap(inject_chain& other) noexcept {
    std::swap(first_, other.first_);
    std::swap(last_, other.last_);
    std::swap(size_, other.size_);
  }

 private:
  // The last element of a list links to itself, so that every element of a list has a link that is not null.
  [[nodiscard]] static auto& next(element* e) noexcept { return (e->*Link).next; }

  void append(element* first, element* last, std::size_t n) noexcept {
    if (last_ == nullptr) {
      first_ = first;
    } else {
      next(last_).set(first);
    }
    last_ = last;
    size_ += n;
  }
  void forget() noexcept {
    first_ = last_ = nullptr;
    size_ = 0;
  }

  element* first_ = nullptr;
  element* last_ = nullptr;
  std::size_t size_ = 0;
};

/// A FIFO queue for any number of threads. It takes a lock, so it is not lock-free: the critical sections are O(1), or
/// O(batch) in `take_batch`. No operation allocates. An element is in at most one queue or chain at a time. The
/// destructor does not touch elements that are still in the queue; in debug builds it ends the program if there is one.
///
/// Link  pointer to the member of type inject_link, as in `inject<&task::link>`. The queue uses the atomics policy of
///       the link.
template <auto Link>
class inject {
  using traits = detail::link_traits<decltype(Link)>;

 public:
  using element = typename traits::element;
  using atomics = typename traits::atomics;
  using chain = inject_chain<Link>;
  static constexpr auto link = Link;

  /// The most that `take_batch` hands out at once: half of Go's local ring, so that it always fits.
  static constexpr std::size_t max_batch = 128;

  inject() noexcept : size_(0) {}
  inject(const inject&) = delete;
  inject& operator=(const inject&) = delete;

  /// Appends one element. Any thread.
  void put(element* e) noexcept {
    chain one;
    one.push_back(e);
    splice(std::move(one));
  }

  /// Appends a batch, in order, in O(1) under the lock; `batch` is left empty. Any thread.
  void splice(chain&& batch) noexcept {
    if (batch.empty()) return;
    const std::lock_guard lock(mutex_);
    puts_ += batch.size();
    // Linearises here, under the lock.
    list_.splice(std::move(batch));
    publish_size();
  }

  /// Puts a batch, in order, before all other elements, in O(1) under the lock; `batch` is left empty. For tasks that
  /// were already waiting in the queue of a processor that retires. Any thread.
  void splice_front(chain&& batch) noexcept {
    if (batch.empty()) return;
    const std::lock_guard lock(mutex_);
    puts_ += batch.size();
    batch.splice(std::move(list_));
    // Linearises here, under the lock.
    list_.swap(batch);
    publish_size();
  }

  /// Removes the oldest element, or returns nullptr. Any thread.
  [[nodiscard]] element* take() noexcept {
    const std::lock_guard lock(mutex_);
    // Linearises here, under the lock.
    element* const e = list_.pop_front();
    if (e != nullptr) publish_size();
    return e;
  }

  /// Removes a fair share: the min(size, size / procs + 1, max, 128) oldest elements, in order. `/ procs` leaves their
  /// share to the other processors; `+ 1` gives at least one element when the queue is shorter than `procs`; `max`, at
  /// least 1, is the room that the caller has. `procs` is at least 1. Any thread.
  [[nodiscard]] chain take_batch(std::size_t procs, std::size_t max = max_batch) noexcept {
    atomics::check(procs >= 1, "inject: take_batch() needs at least one processor");
    atomics::check(max >= 1, "inject: take_batch() takes at least one element");
    const std::lock_guard lock(mutex_);
    const std::size_t size = list_.size();
    // Linearises here, under the lock.
    chain batch = list_.cut_front(std::min({size, size / procs + 1, max, max_batch}));
    if (!batch.empty()) publish_size();
    return batch;
  }

  /// Whether there is something to take: the question to ask before going to sleep. It is asked under the lock, so it
  /// is totally ordered with put(): either has_work() sees the element, or put(), once it returns, sees everything that
  /// the caller did before has_work(). Any thread. Locks.
  [[nodiscard]] bool has_work() const noexcept {
    const std::lock_guard lock(mutex_);
    // Linearises here, under the lock.
    return !list_.empty();
  }

  /// A guess at whether there is something to take, which saves the lock: for a search that goes on elsewhere when the
  /// answer is no. Before going to sleep ask has_work() instead: docs/sleeping.md. Takes no lock. Any thread.
  [[nodiscard]] bool has_work_approx() const noexcept {
    // [inject.has_work_approx] acquire: pairs with [inject.publish_size]. kept: no model of the queue alone fails with
    // relaxed, but a thread that is told of a task must see that task.
    return size_.load(std::memory_order::acquire) != 0;
  }

  /// The number of elements a moment ago, for statistics. Takes no lock. Any thread.
  [[nodiscard]] std::size_t size_approx() const noexcept {
    // [inject.size] relaxed: a guess.
    return size_.load(std::memory_order::relaxed);
  }

  /// A guess at whether another thread holds the lock: for a search that goes on elsewhere instead of waiting. Always
  /// false if the policy's mutex has no looks_taken(), as std::mutex. Takes no lock. Any thread.
  [[nodiscard]] bool looks_busy() const noexcept {
    // Does not linearise: it says nothing about the elements.
    if constexpr (requires { mutex_.looks_taken(); }) {
      return mutex_.looks_taken();
    } else {
      return false;
    }
  }

  /// How many elements the queue held, and how many had ever been put. With it pushed_since() can tell later whether
  /// another thread has put one meanwhile: see all_empty(). Any thread. Locks.
  struct observation {
    std::size_t size = 0;
    std::size_t puts = 0;
    [[nodiscard]] bool empty() const noexcept { return size == 0; }
  };
  [[nodiscard]] observation observe() const noexcept {
    const std::lock_guard lock(mutex_);
    // Linearises here, under the lock.
    return {list_.size(), puts_};
  }
  /// Whether an element was put since `seen` was observed. Any thread. Locks.
  [[nodiscard]] bool pushed_since(const observation& seen) const noexcept {
    const std::lock_guard lock(mutex_);
    // Linearises here, under the lock.
    return puts_ != seen.puts;
  }

 private:
  // The caller holds the lock.
  void publish_size() noexcept {
    // [inject.publish_size] release: pairs with [inject.has_work_approx]: a thread that reads this size sees what its
    // writer did before. kept: no model of the queue alone fails with relaxed, but a thread that is told of a task must
    // see that task.
    size_.store(list_.size(), std::memory_order::release);
  }

  mutable typename atomics::mutex mutex_;
  chain list_;                                           // under mutex_
  std::size_t puts_ = 0;                                 // under mutex_: elements ever put; it may wrap around
  typename atomics::template atomic<std::size_t> size_;  // written under mutex_, read without
};

}  // namespace runq

#endif  // C++20
