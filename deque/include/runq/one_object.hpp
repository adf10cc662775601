// SPDX-License-Identifier: MIT
// one_object: a queue that is one object, for a host whose worker holds one deque and calls it for everything.
//
// It has no algorithm of its own: each call makes an owner handle or a thief handle of the queue inside, which with the
// policy `unchecked_owner` is a pointer that the compiler removes. When to take it: docs/integrate.md.
#pragma once

#if __cplusplus <= 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG <= 201703L)
#error "runqkit needs C++20: compile with -std=c++20, or as your compiler calls it"
#else

#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "runq/atomics.hpp"
#include "runq/common.hpp"

namespace runq {

namespace detail {

template <class Owner, class T>
concept refuses_when_full = requires(Owner o, T value) {
  { o.push(value) } -> std::same_as<bool>;
};
template <class Owner, class T>
concept has_a_next = requires(Owner o, T value) {
  o.push_next(value);
};
template <class Owner, class... Batch>
concept takes_batch = requires(Owner o, Batch&&... batch) {
  o.push_batch(std::forward<Batch>(batch)...);
};
template <class Thief>
concept steals = requires(Thief t) {
  t.steal();
};
template <class Thief, class T>
concept steals_half = requires(Thief t, std::span<T> out) {
  t.steal_half(out);
};
template <class Owner, class Thief, class... Options>
concept steals_from = requires(Owner o, Thief t, Options... options) {
  o.steal_from(t, options...);
};

}  // namespace detail

/// A queue without handles: one_object<chase_lev<task*>>, one_object<ring<task*>>, one_object<split_deque<task*>>,
/// one_object<local_queue<&task::link>>.
///
/// One thread at a time is the owner; no build checks that. It calls push, push_next, push_batch, pop and, of a
/// local_queue, steal_from. Any thread calls the others. The contract of each is that of the handle's operation.
///
/// While no thread uses it, it may be moved: the elements go with it, and no member points into another one. Handles of
/// the former object are then of no use.
///
/// Queue  a ring, split_ring, chase_lev, split_deque or local_queue
template <class Queue>
class one_object {
  using queue = typename Queue::template with_policy<unchecked_owner<typename Queue::atomics>>;

 public:
  using value_type = typename queue::value_type;
  using made_of = typename queue::made_of;
  using owner = typename queue::owner;
  using thief = typename queue::thief;
  // This makes the thief handle where the user's file names one_object. Otherwise g++ warns of a task type in an
  // unnamed namespace.
  static_assert(std::copyable<thief>);

  one_object() noexcept requires std::default_initializable<queue> : queue_() {}

  /// An object made of what the queue is made of: a capacity, a first index, the global queue.
  explicit one_object(made_of argument) noexcept : queue_(argument) {}

  /// A queue with memory from `source`: the arguments are a chase_lev's capacity, and where its arrays come from.
  template <memory_source Source>
  requires std::constructible_from<queue, made_of, Source&> one_object(made_of argument, Source& source)
  noexcept : queue_(argument, source) {}

  /// Takes the elements of `unused`, and leaves it empty. Neither allocates nor fails. A bounded_chase_lev from which
  /// its elements were taken has the capacity 0.
  one_object(one_object&& unused) noexcept : queue_(std::move(unused.queue_)) {}

  /// Takes the elements of `unused`, and leaves it empty. Elements that were in this queue before are not touched.
  one_object& operator=(one_object&& unused) noexcept {
    if (this != &unused) {
      std::destroy_at(&queue_);
      ::new (static_cast<void*>(&queue_)) queue(std::move(unused.queue_));
    }
    return *this;
  }
  one_object(const one_object&) = delete;
  one_object& operator=(const one_object&) = delete;
  ~one_object() = default;

  /// owner::push: false when the queue is full, or finds no memory. Owner only.
  [[nodiscard]] bool push(value_type value) noexcept requires detail::refuses_when_full<owner, value_type> {
    return make_owner().push(value);
  }
  /// owner::push of a queue that overflows: how many elements went to the global queue. Owner only.
  std::size_t push(value_type value) noexcept { return make_owner().push(value); }

  /// owner::push_next of a local_queue. Owner only.
  std::size_t push_next(value_type value) noexcept requires detail::has_a_next<owner, value_type> {
    return make_owner().push_next(value);
  }

  /// owner::push_batch, of a span, a chain, or an iterator and a sentinel. Owner only.
  template <class... Batch>
  requires detail::takes_batch<owner, Batch...>
  auto push_batch(Batch&&... batch) { return make_owner().push_batch(std::forward<Batch>(batch)...); }

  /// owner::pop. Owner only.
  [[nodiscard]] auto pop() noexcept { return make_owner().pop(); }

  /// thief::steal, from this queue. Any thread.
  [[nodiscard]] auto steal() const noexcept requires detail::steals<thief> { return make_thief().steal(); }

  /// thief::steal_half, from this queue into memory of the caller. Any thread.
  [[nodiscard]] batch_result steal_half(
      std::span<value_type> out) const noexcept requires detail::steals_half<thief, value_type> {
    return make_thief().steal_half(out);
  }

  /// owner::steal_from of a local_queue, from another one into this one. Owner only, of this one.
  [[nodiscard]] auto steal_from(const one_object& victim) noexcept requires detail::steals_from<owner, thief> {
    return make_owner().steal_from(victim.make_thief());
  }
  template <class Next, std::convertible_to<std::size_t>... Counts>
  requires detail::steals_from<owner, thief, Next>
  [[nodiscard]] auto steal_from(const one_object& victim, Next next, Counts... limit_and_backoff) noexcept {
    return make_owner().steal_from(victim.make_thief(), next, static_cast<std::size_t>(limit_and_backoff)...);
  }

  /// Whether there is nothing to take: thief::has_work, the question to ask before going to sleep. Any thread.
  [[nodiscard]] bool empty() const noexcept { return !make_thief().has_work(); }

  /// thief::size_approx. Any thread.
  [[nodiscard]] std::size_t size() const noexcept { return make_thief().size_approx(); }

  /// The queue's capacity(). Any thread.
  [[nodiscard]] std::size_t capacity() const noexcept { return queue_.capacity(); }

  /// A handle for the operations that are not above. The owner may make as many as it likes; they are pointers.
  [[nodiscard]] owner make_owner() noexcept { return queue_.make_owner(); }
  [[nodiscard]] thief make_thief() const noexcept { return queue_.make_thief(); }

 private:
  queue queue_;
};

}  // namespace runq

#endif  // C++20
