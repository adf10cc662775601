// SPDX-License-Identifier: MIT
// boxed: a queue of values that are too large for a lock-free atomic. The queue inside holds pointers to boxes, and the
// boxes come from a free list of the queue's owner. box_pool is that free list, for a queue that `boxed` does not fit.
//
// Contract, protocol, what it costs and rejected designs: docs/queues/boxed.md. Models: models/cases/queues/boxed/.
#pragma once

#if __cplusplus <= 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG <= 201703L)
#error "runqkit needs C++20: compile with -std=c++20, or as your compiler calls it"
#else

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "runq/atomics.hpp"
#include "runq/common.hpp"
#include "runq/one_object.hpp"

namespace runq {

template <class T, class Atomics, std::size_t BlockBoxes>
class box_pool;

namespace detail {

// A value in plain memory. It is there from put() to take(): both are called in turn.
template <class T, class Atomics>
class box_contents {
 public:
  void put(T&& value) noexcept { ::new (static_cast<void*>(room_.data())) T(std::move(value)); }
  [[nodiscard]] T take() noexcept {
    T* const value = std::launder(reinterpret_cast<T*>(room_.data()));
    T taken(std::move(*value));
    std::destroy_at(value);
    return taken;
  }

 private:
  alignas(T) std::array<std::byte, sizeof(T)> room_;
};

// A cell, which the models watch.
template <class T, class Atomics>
requires std::is_trivially_copyable_v<T>
class box_contents<T, Atomics> {
 public:
  void put(const T& value) noexcept { value_.set(value); }
  [[nodiscard]] T take() noexcept { return value_.get(); }

 private:
  typename Atomics::template cell<T> value_;
};

}  // namespace detail

/// Room for one value. Only the pool that it came from fills, opens and reuses it.
///
/// T        of any size: default constructible, and moved without exceptions
/// Atomics  the policy (runq/atomics.hpp), which is that of the queue
template <class T, class Atomics = std_atomics>
class box {
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T> &&
                    std::is_nothrow_default_constructible_v<T>,
                "runq: a value in a box must be default constructible and movable, and neither may throw; to queue "
                "something else, queue a pointer to it");

 public:
  using value_type = T;
  using atomics = Atomics;

 private:
  template <class, class, std::size_t>
  friend class box_pool;

  detail::box_contents<T, Atomics> contents_;
  typename Atomics::template cell<box*> next_{nullptr};  // in the list of free boxes, or of returned ones
};

/// The free list of boxes of one queue. One thread at a time is the owner of the pool, and it is the owner of the queue
/// as well: it fills boxes. Any thread that took a box from the queue opens it, which moves the value out and gives the
/// box back.
///
/// Only fill() allocates: a block of boxes, when no box is free. So there are never more boxes than the values that
/// were queued, or just being taken, at one time, rounded up to whole blocks. The destructor frees all of them, and
/// touches no value that is still in one.
///
/// While no thread uses it, it may be moved. Its boxes stay valid.
template <class T, class Atomics = std_atomics, std::size_t BlockBoxes = 64>
class box_pool {
  static_assert(BlockBoxes >= 1);

 public:
  using box_type = box<T, Atomics>;

  box_pool() noexcept = default;
  /// A pool whose blocks come from `source`. Only the owner and the destructor call it.
  template <memory_source Source>
  explicit box_pool(Source& source) noexcept : memory_(source) {}

  /// Takes the boxes of `unused`, and leaves it without any.
  box_pool(box_pool&& unused) noexcept { take_all_of(unused); }
  /// The boxes that this pool had before are freed; none of them may be in use.
  box_pool& operator=(box_pool&& unused) noexcept {
    if (this != &unused) {
      free_blocks();
      take_all_of(unused);
    }
    return *this;
  }
  box_pool(const box_pool&) = delete;
  box_pool& operator=(const box_pool&) = delete;
  ~box_pool() { free_blocks(); }

  /// A box with `value` in it, or nullptr if there is no memory; then `value` was not moved from. Owner only.
  /// Wait-free, except when it allocates.
  [[nodiscard]] box_type* fill(T&& value) noexcept {
    if (free_.get() == nullptr && !refill()) return nullptr;
    box_type* const b = free_.get();
    free_.set(b->next_.get());
    b->contents_.put(std::move(value));
    return b;
  }

  /// The value in a box of this pool, which is free then. Owner only. Wait-free.
  [[nodiscard]] T open(box_type* b) noexcept {
    T value = b->contents_.take();
    b->next_.set(free_.get());
    free_.set(b);
    return value;
  }

  /// The same by any thread: the box goes to the list of returned boxes, which the owner takes over as a whole when it
  /// has no free box. Lock-free.
  [[nodiscard]] T open_stolen(box_type* b) noexcept {
    T value = b->contents_.take();
    give_back(b, b);
    return value;
  }

  /// The values in the boxes `bs`, in order, to the front of `out`, which has room for them; `bs` is not empty. All of
  /// the boxes are returned at once. Any thread. Lock-free.
  void open_stolen(std::span<box_type* const> bs, std::span<T> out) noexcept {
    for (std::size_t i = 0; i != bs.size(); ++i) {
      out[i] = bs[i]->contents_.take();
      if (i != 0) bs[i - 1]->next_.set(bs[i]);
    }
    give_back(bs.front(), bs.back());
  }

 private:
  struct block {
    block* next = nullptr;
    std::array<box_type, BlockBoxes> boxes;
  };
  static_assert(alignof(block) <= alignof(std::max_align_t),
                "runq: a value in a box must not be aligned more strictly than a fundamental type");

  // Returns the boxes from `first` to `last`, which are linked.
  void give_back(box_type* first, box_type* last) noexcept {
    // [box_pool.returned] relaxed: only compared, and never dereferenced by this thread.
    box_type* before = returned_.load(std::memory_order::relaxed);
    do {
      last->next_.set(before);
      // [box_pool.return] release: pairs with [box_pool.collect]: this thread has taken the value before the owner
      // fills the box again; weaker: a thief takes a value that is half of another one. Relaxed on failure: as the
      // load. The same box may be first again although others came and went meanwhile (ABA), which is harmless: the
      // list behind it is what the link should name.
    } while (!returned_.compare_exchange_weak(before, first, std::memory_order::release, std::memory_order::relaxed));
  }

  // Makes the returned boxes free, or allocates a block. Returns false if there is neither.
  RUNQ_RARELY_CALLED [[nodiscard]] bool refill() noexcept {
    // [box_pool.collect] acquire: pairs with [box_pool.return]: the thieves have read their values before the owner
    // fills the boxes again, and their links are visible; weaker: a thief takes a value that is half of another one.
    box_type* first = returned_.exchange(nullptr, std::memory_order::acquire);
    if (first == nullptr) first = allocate();
    free_.set(first);
    return first != nullptr;
  }

  [[nodiscard]] box_type* allocate() noexcept {
    void* const room = memory_.allocate(sizeof(block));
    if (room == nullptr) return nullptr;
    block* const fresh = ::new (room) block;
    fresh->next = std::exchange(blocks_, fresh);
    box_type* first = nullptr;
    for (box_type& b : fresh->boxes) {
      b.next_.set(first);
      first = &b;
    }
    return first;
  }

  void take_all_of(box_pool& unused) noexcept {
    memory_ = unused.memory_;
    blocks_ = std::exchange(unused.blocks_, nullptr);
    free_.set(unused.free_.get());
    unused.free_.set(nullptr);
    // [box_pool.move.returned] relaxed: nobody else is there.
    box_type* const returned = unused.returned_.load(std::memory_order::relaxed);
    // [box_pool.move.to] relaxed: nobody else is there.
    returned_.store(returned, std::memory_order::relaxed);
    // [box_pool.move.from] relaxed: nobody else is there.
    unused.returned_.store(nullptr, std::memory_order::relaxed);
  }

  void free_blocks() noexcept {
    for (block* b = blocks_; b != nullptr;) {
      block* const freed = std::exchange(b, b->next);
      std::destroy_at(freed);
      memory_.deallocate(freed, sizeof(block));
    }
  }

  detail::queue_memory<Atomics> memory_;
  block* blocks_ = nullptr;                                   // owner only: all that there are
  typename Atomics::template cell<box_type*> free_{nullptr};  // owner only
  // Thieves write it, so it has a cache line of its own.
  alignas(cache_line) typename Atomics::template atomic<box_type*> returned_{nullptr};
};

/// A queue of values of any size, without handles: boxed<one_object<chase_lev<box<job>*>>>. Its operations are those of
/// the queue inside, with values for pointers, and what they promise is the same, with two exceptions: a push says no
/// when there is no memory for a box, too; and a steal that takes something is lock-free, because it returns a box.
///
/// One thread at a time is the owner; no build checks that. It calls push and pop. Any thread calls the others. It may
/// be moved while no thread uses it, if the queue inside may.
///
/// Queue       a one_object, or a counted, of a queue of box<T>*: of a ring, split_ring, chase_lev or split_deque
/// BlockBoxes  how many boxes are allocated at once, at least 1
template <class Queue, std::size_t BlockBoxes = 64>
class boxed {
  using box_type = std::remove_pointer_t<typename Queue::value_type>;
  using pool = box_pool<typename box_type::value_type, typename box_type::atomics, BlockBoxes>;
  static_assert(std::same_as<box_type, typename pool::box_type>, "runq: a boxed queue holds pointers to runq::box");

 public:
  using value_type = typename box_type::value_type;

  /// The most that `steal_half` takes at once.
  static constexpr std::size_t max_batch = 64;

  boxed() noexcept requires std::default_initializable<Queue> {}

  /// A queue made of what the queue inside is made of: a capacity, a first index.
  explicit boxed(typename Queue::made_of argument) noexcept : queue_(argument) {}

  /// The same with memory from `source` for the boxes, and for the queue inside, if it allocates.
  template <memory_source Source>
  boxed(typename Queue::made_of argument, Source& source) noexcept : pool_(source), queue_(inside(argument, source)) {}

  boxed(boxed&&) noexcept = default;
  /// The values that were in this queue before are destroyed.
  boxed& operator=(boxed&& unused) noexcept {
    if (this != &unused) {
      clear();
      pool_ = std::move(unused.pool_);
      queue_ = std::move(unused.queue_);
    }
    return *this;
  }
  boxed(const boxed&) = delete;
  boxed& operator=(const boxed&) = delete;
  /// Destroys the values that are left. No thread uses the queue any more.
  ~boxed() { clear(); }

  /// False when the queue is full, or finds no memory; then the caller still has `value`. Owner only.
  [[nodiscard]] bool push(value_type&& value) noexcept {
    box_type* const b = pool_.fill(std::move(value));
    if (b == nullptr) return false;
    // Linearises here, as the queue's push.
    if (queue_.push(b)) return true;
    value = pool_.open(b);
    return false;
  }
  [[nodiscard]] bool push(const value_type& value) noexcept requires std::is_nothrow_copy_constructible_v<value_type> {
    value_type copy(value);
    return push(std::move(copy));
  }

  /// The queue's pop. Owner only.
  [[nodiscard]] std::optional<value_type> pop() noexcept {
    // Linearises here, as the queue's pop.
    const std::optional<box_type*> b = queue_.pop();
    if (!b) return std::nullopt;
    return pool_.open(*b);
  }

  /// The queue's steal. Any thread.
  [[nodiscard]] steal_result<value_type> steal() noexcept {
    // Linearises here, as the queue's steal.
    const steal_result<box_type*> got = queue_.steal();
    if (!got) return {got.status, value_type{}, 0};
    return {got.status, pool_.open_stolen(got.value), got.count};
  }

  /// The queue's steal_half, of max_batch values at most, into memory of the caller. Any thread.
  [[nodiscard]] batch_result steal_half(std::span<value_type> out) noexcept requires
      requires(const Queue& queue, std::span<box_type*> boxes) {
    queue.steal_half(boxes);
  }
  {
    std::array<box_type*, max_batch> boxes{};
    // Linearises here, as the queue's steal_half.
    const batch_result got = queue_.steal_half(std::span(boxes).first(std::min(out.size(), max_batch)));
    if (got) pool_.open_stolen(std::span(boxes).first(got.count), out);
    return got;
  }

  /// The queue's empty, size and capacity. Any thread.
  [[nodiscard]] bool empty() const noexcept { return queue_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return queue_.size(); }
  [[nodiscard]] std::size_t capacity() const noexcept { return queue_.capacity(); }

  /// Those of a counted queue, for all_empty(). Any thread.
  [[nodiscard]] auto observe() const noexcept requires requires(const Queue& queue) { queue.observe(); }
  { return queue_.observe(); }
  [[nodiscard]] bool pushed_since(const auto& seen) const noexcept requires requires(const Queue& queue) {
    queue.pushed_since(seen);
  }
  { return queue_.pushed_since(seen); }

 private:
  template <class Source>
  [[nodiscard]] static Queue inside(typename Queue::made_of argument, Source& source) noexcept {
    if constexpr (std::constructible_from<Queue, typename Queue::made_of, Source&>) {
      return Queue(argument, source);
    } else {
      return Queue(argument);
    }
  }

  void clear() noexcept {
    if constexpr (!std::is_trivially_destructible_v<value_type>) {
      while (pop()) continue;
    }
  }

  pool pool_;
  Queue queue_;
};

}  // namespace runq

#endif  // C++20
