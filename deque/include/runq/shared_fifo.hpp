// SPDX-License-Identifier: MIT
// shared_fifo: an unbounded FIFO queue of values that all threads share, under a lock: the global queue for a host
// whose tasks cannot carry a link.
//
// Contract, protocol and rejected designs: docs/queues/shared_fifo.md. Models: models/cases/queues/shared_fifo/.
#pragma once

#if __cplusplus <= 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG <= 201703L)
#error "runqkit needs C++20: compile with -std=c++20, or as your compiler calls it"
#else

#include <algorithm>
#include <array>
#include <cstddef>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "runq/atomics.hpp"
#include "runq/common.hpp"

namespace runq {

/// A FIFO queue for any number of threads. It takes a lock, so it is not lock-free: the critical sections are O(1), or
/// O(batch) in `take_batch`. The values lie in segments; put() allocates one for every `SegmentValues` values, outside
/// the lock, and reuses the one that was emptied last. In debug builds the destructor ends the program if a value is
/// left, which would be lost.
///
/// For elements that carry an inject_link take inject, which never allocates.
///
/// T              trivially copyable and default constructible, of any size; usually a pointer
/// Atomics        the policy (runq/atomics.hpp)
/// SegmentValues  how many values a segment holds, at least 1
template <class T, class Atomics = std_atomics, std::size_t SegmentValues = 62>
class basic_shared_fifo {
  static_assert(std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T>,
                "runq: a value of a shared_fifo must be trivially copyable and default constructible; to queue "
                "something else, queue a pointer to it");
  static_assert(SegmentValues >= 1);

 public:
  using value_type = T;
  using atomics = Atomics;

  /// The most that `take_batch` hands out at once: half of Go's local ring, so that it always fits.
  static constexpr std::size_t max_batch = 128;

  basic_shared_fifo() noexcept : size_(0) {}
  /// A queue whose segments come from `source`. Several threads may call the source at once.
  template <memory_source Source>
  explicit basic_shared_fifo(Source& source) noexcept : memory_(source), size_(0) {}
  basic_shared_fifo(const basic_shared_fifo&) = delete;
  basic_shared_fifo& operator=(const basic_shared_fifo&) = delete;
  ~basic_shared_fifo() {
    Atomics::check(values_.size == 0, "shared_fifo: destroyed with values in it; they are lost");
    free_all(values_.first);
    free_all(spare_);
  }

  /// Appends one value. False if there is no memory for a segment; then nothing changed. Any thread.
  [[nodiscard]] bool put(T value) noexcept {
    if (put_into_last(value)) return true;
    segment* const fresh = segment::make(memory_);
    if (fresh == nullptr) return false;
    fresh->append(value);
    splice({fresh, fresh, 1});
    return true;
  }

  /// Appends all of `values`, in order, next to each other, in O(1) under the lock. False if there is no memory for
  /// them; then nothing changed. Any thread.
  [[nodiscard]] bool put_batch(std::span<const T> values) noexcept {
    if (values.empty()) return true;
    list batch;
    for (const T& value : values) {
      if (!batch.has_room()) {
        segment* const fresh = segment::make(memory_);
        if (fresh == nullptr) {
          free_all(batch.first);
          return false;
        }
        batch.link(fresh);
      }
      batch.append(value);
    }
    splice(batch);
    return true;
  }

  /// Removes the oldest value, or returns nothing. Any thread.
  [[nodiscard]] std::optional<T> take() noexcept {
    T oldest{};
    if (take_batch(1, {&oldest, 1}) == 0) return std::nullopt;
    return oldest;
  }

  /// Moves a fair share to the front of `room`: the min(size, size / procs + 1, room.size(), 128) oldest values, in
  /// order, and returns their number. `/ procs` leaves their share to the other processors; `+ 1` gives at least one
  /// value when the queue is shorter than `procs`. `procs` and room.size() are at least 1. Any thread.
  [[nodiscard]] std::size_t take_batch(std::size_t procs, std::span<T> room) noexcept {
    Atomics::check(procs >= 1, "shared_fifo: take_batch() needs at least one processor");
    Atomics::check(!room.empty(), "shared_fifo: take_batch() needs room for at least one value");
    list emptied;
    std::size_t taken = 0;
    {
      const std::lock_guard lock(mutex_);
      // Linearises here, under the lock.
      taken = std::min({values_.size, values_.size / procs + 1, room.size(), max_batch});
      for (T& value : room.first(taken)) {
        value = values_.take_front();
        if (values_.first->empty()) emptied.link(values_.unlink());
      }
      if (taken != 0) publish_size();
      if (spare_ == nullptr && emptied.first != nullptr) spare_ = emptied.unlink();
    }
    free_all(emptied.first);
    return taken;
  }

  /// Whether there is something to take: the question to ask before going to sleep. It is asked under the lock, so it
  /// is totally ordered with put(): either has_work() sees the value, or put(), once it returns, sees everything that
  /// the caller did before has_work(). Any thread. Locks.
  [[nodiscard]] bool has_work() const noexcept {
    const std::lock_guard lock(mutex_);
    // Linearises here, under the lock.
    return values_.size != 0;
  }

  /// A guess at whether there is something to take, which saves the lock: for a search that goes on elsewhere when the
  /// answer is no. Before going to sleep ask has_work() instead: docs/sleeping.md. Takes no lock. Any thread.
  [[nodiscard]] bool has_work_approx() const noexcept {
    // [shared_fifo.has_work_approx] acquire: pairs with [shared_fifo.publish_size]. kept: no model of the queue alone
    // fails with relaxed, but a thread that is told of a task must see that task.
    return size_.load(std::memory_order::acquire) != 0;
  }

  /// The number of values a moment ago, for statistics. Takes no lock. Any thread.
  [[nodiscard]] std::size_t size_approx() const noexcept {
    // [shared_fifo.size] relaxed: a guess.
    return size_.load(std::memory_order::relaxed);
  }

  /// How many values the queue held, and how many had ever been put. With it pushed_since() can tell later whether
  /// another thread has put one meanwhile: see all_empty(). Any thread. Locks.
  struct observation {
    std::size_t size = 0;
    std::size_t puts = 0;
    [[nodiscard]] bool empty() const noexcept { return size == 0; }
  };
  [[nodiscard]] observation observe() const noexcept {
    const std::lock_guard lock(mutex_);
    // Linearises here, under the lock.
    return {values_.size, puts_};
  }
  /// Whether a value was put since `seen` was observed. Any thread. Locks.
  [[nodiscard]] bool pushed_since(const observation& seen) const noexcept {
    const std::lock_guard lock(mutex_);
    // Linearises here, under the lock.
    return puts_ != seen.puts;
  }

 private:
  /// Room for some values, filled and emptied once, in order. Used by one thread, or under the lock.
  class segment {
   public:
    /// Returns nullptr if there is no memory.
    [[nodiscard]] static segment* make(const detail::queue_memory<Atomics>& memory) noexcept {
      void* const room = memory.allocate(sizeof(segment));
      return room == nullptr ? nullptr : ::new (room) segment;
    }
    static void destroy(segment* s, const detail::queue_memory<Atomics>& memory) noexcept {
      s->~segment();
      memory.deallocate(s, sizeof(segment));
    }
    [[nodiscard]] bool empty() const noexcept { return first_ == last_; }
    [[nodiscard]] bool has_room() const noexcept { return last_ != SegmentValues; }
    void append(T value) noexcept { values_[last_++].set(value); }
    [[nodiscard]] T take_front() noexcept { return values_[first_++].get(); }
    /// Prepares the segment, which is empty, to be filled again.
    void reuse() noexcept { first_ = last_ = 0; }

    segment* next = nullptr;

   private:
    std::size_t first_ = 0;
    std::size_t last_ = 0;
    std::array<typename Atomics::template cell<T>, SegmentValues> values_;
  };
  static_assert(alignof(segment) <= alignof(std::max_align_t),
                "runq: a value of a shared_fifo must not be aligned more strictly than a fundamental type");

  /// Segments and the values in them. A segment is linked just before its first value is appended, and unlinked just
  /// after its last one was taken.
  struct list {
    segment* first = nullptr;
    segment* last = nullptr;
    std::size_t size = 0;

    [[nodiscard]] bool has_room() const noexcept { return last != nullptr && last->has_room(); }
    void link(segment* s) noexcept {
      (first == nullptr ? first : last->next) = s;
      last = s;
    }
    [[nodiscard]] segment* unlink() noexcept {
      segment* const front = first;
      first = std::exchange(front->next, nullptr);
      if (first == nullptr) last = nullptr;
      return front;
    }
    void append(T value) noexcept {
      last->append(value);
      ++size;
    }
    [[nodiscard]] T take_front() noexcept {
      --size;
      return first->take_front();
    }
  };

  /// Appends `value`. Returns false if the last segment is full and there is no spare one.
  [[nodiscard]] bool put_into_last(T value) noexcept {
    const std::lock_guard lock(mutex_);
    if (!values_.has_room()) {
      if (spare_ == nullptr) return false;
      spare_->reuse();
      values_.link(std::exchange(spare_, nullptr));
    }
    // Linearises here, under the lock.
    values_.append(value);
    ++puts_;
    publish_size();
    return true;
  }

  void splice(const list& batch) noexcept {
    const std::lock_guard lock(mutex_);
    // Linearises here, under the lock.
    values_.link(batch.first);
    values_.last = batch.last;
    values_.size += batch.size;
    puts_ += batch.size;
    publish_size();
  }

  // The caller holds the lock.
  void publish_size() noexcept {
    // [shared_fifo.publish_size] release: pairs with [shared_fifo.has_work_approx]: a thread that reads this size sees
    // what its writer did before. kept: no model of the queue alone fails with relaxed, but a thread that is told of a
    // task must see that task.
    size_.store(values_.size, std::memory_order::release);
  }

  void free_all(segment* s) const noexcept {
    while (s != nullptr) segment::destroy(std::exchange(s, s->next), memory_);
  }

  const detail::queue_memory<Atomics> memory_;
  mutable typename Atomics::mutex mutex_;
  list values_;                                          // under mutex_
  segment* spare_ = nullptr;                             // under mutex_: at most one, empty
  std::size_t puts_ = 0;                                 // under mutex_: values ever put; it may wrap around
  typename Atomics::template atomic<std::size_t> size_;  // written under mutex_, read without
};

/// The queue of a program: basic_shared_fifo with the production policy.
template <class T>
using shared_fifo = basic_shared_fifo<T>;

}  // namespace runq

#endif  // C++20
