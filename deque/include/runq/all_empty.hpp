// SPDX-License-Identifier: MIT
// all_empty: whether several queues were empty at one moment, and counted: a queue that all_empty() can ask about.
//
// A thread that reads one queue after another may find each of them empty although at no moment all of them were: a
// task is pushed into the first queue after it was read, and a task is popped from the second one before it is read.
// Models: models/cases/queues/all_empty/.
#pragma once

#if __cplusplus <= 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG <= 201703L)
#error "runqkit needs C++20: compile with -std=c++20, or as your compiler calls it"
#else

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "runq/atomics.hpp"
#include "runq/common.hpp"
#include "runq/one_object.hpp"

namespace runq {

/// A queue that says whether it is empty, and later whether an element was pushed since: a ring's thief handle, an
/// inject, a counted queue.
template <class Queue>
concept observable = requires(const Queue& queue) {
  { queue.observe().empty() } -> std::same_as<bool>;
  { queue.pushed_since(queue.observe()) } -> std::same_as<bool>;
};

namespace detail {

enum class emptiness : unsigned char { empty, not_empty, unknown };

template <class... Queues>
[[nodiscard]] emptiness look_at_all(const Queues&...) noexcept {
  return emptiness::empty;
}

// Every queue is observed, and then asked in the opposite order whether an element was pushed since. A queue that was
// empty, and into which nothing was pushed, was empty all the time between its two answers, and all these times contain
// the moment after the last observation.
template <observable Queue, observable... Queues>
[[nodiscard]] emptiness look_at_all(const Queue& queue, const Queues&... others) noexcept {
  const auto seen = queue.observe();
  if (!seen.empty()) return emptiness::not_empty;
  const emptiness rest = look_at_all(others...);
  if (rest == emptiness::empty && queue.pushed_since(seen)) return emptiness::unknown;
  return rest;
}

}  // namespace detail

/// Whether at one moment of this call all of these queues were empty. False if a push has begun and has not returned.
/// Any thread. Lock-free, if the queues' observe() is: it looks again only when an element was pushed meanwhile.
template <observable... Queues>
[[nodiscard]] bool all_empty(const Queues&... queues) noexcept {
  for (;;) {
    const detail::emptiness found = detail::look_at_all(queues...);
    if (found != detail::emptiness::unknown) return found == detail::emptiness::empty;
  }
}

/// A one_object that counts its pushes, so that all_empty() can ask about it. Without a count a chase_lev or a runnext
/// slot cannot be asked: an element that is pushed and popped again leaves no trace there. A push costs two stores
/// more. A counted queue has no handles, because their pushes would not be counted.
///
/// Queue  a ring, split_ring, chase_lev, split_deque or local_queue
template <class Queue>
class counted : private one_object<Queue> {
  using object = one_object<Queue>;
  using atomics = typename Queue::atomics;

 public:
  using value_type = typename object::value_type;
  using object::capacity;
  using object::empty;
  using object::object;
  using object::pop;
  using object::size;
  using object::steal;
  using object::steal_half;
  using typename object::made_of;

  /// one_object's operations of these names. Owner only.
  auto push(value_type value) noexcept {
    const pushing one(*this);
    return object::push(value);
  }
  std::size_t push_next(value_type value) noexcept requires detail::has_a_next<typename object::owner, value_type> {
    const pushing one(*this);
    return object::push_next(value);
  }
  template <class... Batch>
  requires detail::takes_batch<typename object::owner, Batch...>
  auto push_batch(Batch&&... batch) {
    const pushing all(*this);
    return object::push_batch(std::forward<Batch>(batch)...);
  }

  /// one_object's steal_from: takes from another queue into this one. Only the owner of this one.
  template <class... Options>
  requires requires(object& queue, Options... options) { queue.steal_from(queue, options...); }
  [[nodiscard]] auto steal_from(const counted& victim, Options... options) noexcept {
    const pushing all(*this);
    return object::steal_from(victim, options...);
  }

  /// Whether the queue was empty, and how many pushes had begun and returned before.
  struct observation {
    std::uint64_t pushes = 0;
    bool nothing = false;
    [[nodiscard]] bool empty() const noexcept { return nothing; }
  };
  /// Any thread. Wait-free.
  [[nodiscard]] observation observe() const noexcept {
    // [counted.observe] acquire: pairs with [counted.pushed]: empty(), which is called next, sees what was pushed
    // before; weaker: a queue with an element is called empty.
    const std::uint64_t pushes = pushes_.load(std::memory_order::acquire);
    return {pushes, pushes % 2 == 0 && object::empty()};
  }
  /// Whether a push has begun since `seen` was observed. Any thread. Wait-free.
  [[nodiscard]] bool pushed_since(const observation& seen) const noexcept {
    // [counted.again] relaxed: a thread that knows of the push, by an element that it or another thread took, reads a
    // count that is no older.
    return pushes_.load(std::memory_order::relaxed) != seen.pushes;
  }

 private:
  // The count is odd while a push is on its way: an observation in between must not count it, because its element is
  // not there yet.
  struct pushing {
    counted& to;
    const std::uint64_t before;

    // [counted.count] relaxed: the owner is the only writer.
    explicit pushing(counted& c) noexcept : to(c), before(c.pushes_.load(std::memory_order::relaxed)) {
      // [counted.pushing] relaxed: the push that follows publishes its element by a release, and this count with it.
      to.pushes_.store(before + 1, std::memory_order::relaxed);
    }
    pushing(const pushing&) = delete;
    pushing& operator=(const pushing&) = delete;
    ~pushing() {
      // [counted.pushed] release: pairs with [counted.observe]: an observer that reads this count sees the element;
      // weaker: a queue with an element is called empty.
      to.pushes_.store(before + 2, std::memory_order::release);
    }
  };

  typename atomics::template atomic<std::uint64_t> pushes_{0};
};

}  // namespace runq

#endif  // C++20
