// SPDX-License-Identifier: MIT
// ring: a bounded FIFO run queue with one owner and any number of thieves, which take half of it by one claim.
//
// Source of the algorithm: the local run queue of Go's scheduler (runtime/proc.go: runqput, runqget, runqgrab,
// runqsteal, runqdrain), restated in C++ memory orders. Contract, protocol in steps and rejected designs:
// docs/queues/ring.md. The models in models/cases/queues/ring/ check what each order below is for.
#pragma once

#if __cplusplus <= 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG <= 201703L)
#error "runqkit needs C++20: compile with -std=c++20, or as your compiler calls it"
#else

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "runq/atomics.hpp"
#include "runq/common.hpp"

namespace runq {

/// A ring of `Capacity` slots. `head` counts the elements ever taken, `tail` the elements ever pushed; both only grow,
/// and an element sits in slot `count % Capacity`.
///
/// One thread at a time holds the `owner` (push, pop); any thread may hold a `thief` (steal). No operation allocates,
/// locks or makes a system call. The ring must outlive its handles.
///
/// T         trivially copyable and lock-free: a pointer or a small integer
/// Capacity  slots, a power of two, at least 2
/// Index     unsigned counter type. A thief that sleeps between its read of `head` and its claim is fooled if `head`
///           comes back to the same value meanwhile: after exactly 2^64 pops with the default. Narrow types are for
///           models and tests.
/// Atomics   the policy (runq/atomics.hpp)
template <class T, std::size_t Capacity = 256, class Index = std::uint64_t, class Atomics = std_atomics>
class basic_ring {
  static_assert(detail::is_slot_value<T>);
  static_assert(std::has_single_bit(Capacity) && Capacity >= 2,
                "runq: the capacity of a ring must be a power of two, and at least 2");
  static_assert(!std::numeric_limits<Index>::is_signed,
                "runq: the index type of a ring must be an unsigned integer, because it wraps around");
  static_assert(std::atomic<Index>::is_always_lock_free,
                "runq: here the index type of a ring has no lock-free std::atomic; name a narrower one, as in "
                "runq::basic_ring<T, 256, std::uint32_t>");
  static_assert(static_cast<std::uintmax_t>(std::numeric_limits<Index>::max()) / 2 >= Capacity - 1,
                "runq: the index type of a ring must count to at least twice its capacity");

  template <class U>
  using atomic = typename Atomics::template atomic<U>;
  template <class U>
  using cell = typename Atomics::template cell<U>;

 public:
  using value_type = T;
  using index_type = Index;
  using atomics = Atomics;
  template <class Policy>
  using with_policy = basic_ring<T, Capacity, Index, Policy>;
  class owner;
  class thief;

  /// Both counters start at `first`. Tests that want to cross the wrap-around soon choose a large one.
  explicit basic_ring(Index first = Index{0}) noexcept : head_(first), tail_(first), head_seen_(first) {}
  basic_ring(const basic_ring&) = delete;
  basic_ring& operator=(const basic_ring&) = delete;

  /// The one owner handle. In debug builds making a second one while the first exists ends the program.
  [[nodiscard]] owner make_owner() noexcept { return owner(*this); }

  /// A thief handle. Any thread, any number of them.
  [[nodiscard]] thief make_thief() const noexcept { return thief(*this); }

  [[nodiscard]] static constexpr std::size_t capacity() noexcept { return Capacity; }

 private:
  template <class>
  friend class one_object;
  using made_of = Index;  // what one_object's constructor takes

  // Takes the elements of `unused`, in order. No other thread may use either ring meanwhile.
  basic_ring(basic_ring&& unused) noexcept : basic_ring() {
    owner to = make_owner();
    unused.make_owner().drain([&to](T value) noexcept { static_cast<void>(to.push(value)); });
  }

  [[nodiscard]] static std::size_t distance(Index from, Index to) noexcept {
    // The cast back to Index undoes integral promotion: with an 8-bit index, 0 - 255 must be 1, not -255. Where Index
    // is wider than std::size_t, a distance that does not fit becomes the largest std::size_t, so that it does not look
    // like 0.
    return detail::saturated<std::size_t>(static_cast<Index>(to - from));
  }
  [[nodiscard]] static Index advance(Index from, std::size_t by) noexcept {
    return static_cast<Index>(from + static_cast<Index>(by));
  }
  [[nodiscard]] atomic<T>& slot(Index at) noexcept { return slots_[static_cast<std::size_t>(at) % Capacity]; }
  [[nodiscard]] const atomic<T>& slot(Index at) const noexcept {
    return slots_[static_cast<std::size_t>(at) % Capacity];
  }

  // Written by the owner (pop, shed, drain) and by thieves (steal), always by compare-exchange; read by all threads.
  // It has a cache line of its own, because thieves write it while the owner pushes.
  alignas(cache_line) mutable atomic<Index> head_;
  // Written by the owner only; read by all threads.
  alignas(cache_line) atomic<Index> tail_;
  // Owner only: a value that head_ once had. head_ only grows, so `tail_ - head_seen_` may be too large, but never too
  // small.
  cell<Index> head_seen_;
  template <class, class>
  friend class detail::owner_handle;
  static constexpr detail::owner_misuse misuse{
      "ring: make_owner() was called twice; a ring has one owner", "ring: this owner handle has been moved from",
      "ring: an owner operation was called from a second thread; only one thread may push and pop. "
      "Move the owner handle, or call rebind(), to hand the ring over"};
  detail::owner_flag<Atomics> owned_;
  // Written by the owner (push, and as the destination of its own steals); read by the owner and by thieves. A thief
  // whose claim will fail may read a slot while the owner writes it. So slots are atomic, and no thread dereferences a
  // value before its claim has succeeded.
  alignas(cache_line) std::array<atomic<T>, Capacity> slots_;
};

/// The owner's side: push at the tail, pop at the head. Move-only, and used by one thread at a time; moving it hands
/// the ring over, and the move itself must happen-before the first use by the next thread.
template <class T, std::size_t Capacity, class Index, class Atomics>
class basic_ring<T, Capacity, Index, Atomics>::owner : public detail::owner_handle<basic_ring, Atomics> {
  using handle = detail::owner_handle<basic_ring, Atomics>;

 public:
  /// Adds one element at the tail. Returns false, and changes nothing, when the ring is full.
  /// Owner only. Wait-free.
  [[nodiscard]] bool push(T value) noexcept {
    basic_ring& r = enter();
    // [ring.push.tail] relaxed: the owner is the only writer.
    const Index t = r.tail_.load(std::memory_order::relaxed);
    if (room(t, 1) == 0) return false;
    // [ring.push.slot] relaxed: published by [ring.push.publish]; thieves with an old head may be reading it.
    r.slot(t).store(value, std::memory_order::relaxed);
    // Linearises here.
    // [ring.push.publish] release: pairs with [ring.steal.tail] and [ring.observe.again]; weaker: a thief takes a slot
    // not yet written, or a task whose contents it cannot see.
    r.tail_.store(advance(t, 1), std::memory_order::release);
    return true;
  }

  /// Adds elements from the front of `values`, in order, as many as fit, all published at once.
  /// Returns how many were added. Owner only. Wait-free.
  [[nodiscard]] std::size_t push_batch(std::span<const T> values) noexcept {
    basic_ring& r = enter();
    // [ring.push_batch.tail] relaxed: the owner is the only writer.
    const Index t = r.tail_.load(std::memory_order::relaxed);
    const std::size_t n = std::min(values.size(), room(t, values.size()));
    for (std::size_t i = 0; i != n; ++i) {
      // [ring.push_batch.slot] relaxed: published by [ring.push_batch.publish].
      r.slot(advance(t, i)).store(values[i], std::memory_order::relaxed);
    }
    if (n == 0) return 0;
    // Linearises here, all at once.
    // [ring.push_batch.publish] release: as [ring.push.publish].
    r.tail_.store(advance(t, n), std::memory_order::release);
    return n;
  }

  /// Takes the oldest element, or nothing when the ring is empty.
  /// Owner only. Lock-free: it tries again only when a thief has taken something.
  [[nodiscard]] std::optional<T> pop() noexcept {
    basic_ring& r = enter();
    // [ring.pop.tail] relaxed: the owner is the only writer.
    const Index t = r.tail_.load(std::memory_order::relaxed);
    for (;;) {
      // Linearises here if it finds nothing,
      // [ring.pop.head] relaxed: the owner wrote the slots itself, and the claim fails if this head is old.
      Index h = r.head_.load(std::memory_order::relaxed);
      if (h == t) return std::nullopt;
      // [ring.pop.slot] relaxed: the owner wrote it.
      const T value = r.slot(h).load(std::memory_order::relaxed);
      // and linearises here if it takes an element.
      // [ring.pop.claim] release: pairs with [ring.steal.head]: a thief that reads this head then reads a tail that is
      // no older; weaker: a thief calls a ring empty that never was. Relaxed on failure: the loop reads head again.
      if (r.head_.compare_exchange_weak(h, advance(h, 1), std::memory_order::release, std::memory_order::relaxed)) {
        return value;
      }
    }
  }

  /// Takes the older half, ⌊n/2⌋ of n elements, oldest first, into `out`. Makes one attempt: returns how many were
  /// taken, or 0 when a thief moved first or ⌊n/2⌋ is 0. Owner only. Wait-free.
  [[nodiscard]] std::size_t shed_half(std::span<T, Capacity / 2> out) noexcept { return shed(out, 2); }

  /// Takes the older half of a full ring, and of no other: an owner whose push() failed gives it to a shared queue.
  /// Returns Capacity/2, or 0 when a thief has taken something since, so that there is room again. Owner only.
  /// Wait-free.
  [[nodiscard]] std::size_t shed_half_of_full(std::span<T, Capacity / 2> out) noexcept { return shed(out, Capacity); }

  /// Takes all elements, oldest first, and hands each to `sink(T)`, which must not push here. Returns how many there
  /// were. If `sink` throws, the elements that it was not given are in the ring again, in order. Owner only. Lock-free.
  template <class Sink>
  std::size_t drain(Sink&& sink) {
    basic_ring& r = enter();
    // [ring.drain.tail] relaxed: the owner is the only writer.
    const Index t = r.tail_.load(std::memory_order::relaxed);
    for (;;) {
      // Linearises here if it finds nothing,
      // [ring.drain.head] relaxed: the owner wrote the slots itself, and the claim fails if this head is old.
      const Index h = r.head_.load(std::memory_order::relaxed);
      if (h == t) return 0;
      Index expected = h;
      // and linearises here if it takes the elements.
      // [ring.drain.claim] release: as [ring.pop.claim]. kept: no model fails with relaxed, because a drained ring is
      // empty in any case. Release keeps observers from reading a head that is newer than the tail they read.
      if (!r.head_.compare_exchange_weak(expected, t, std::memory_order::release, std::memory_order::relaxed)) continue;
      const std::size_t n = distance(h, t);
      drained rest{*this, h, n};
      while (!rest.empty()) sink(rest.take());
      return n;
    }
  }

  /// How many elements fit now, 0 … Capacity. Thieves can only increase it. Owner only. Wait-free.
  [[nodiscard]] std::size_t room() noexcept {
    basic_ring& r = enter();
    // [ring.room.tail] relaxed: the owner is the only writer.
    return room(r.tail_.load(std::memory_order::relaxed), Capacity);
  }

  /// Elements in the ring, 0 … Capacity; others may have taken some by the time it returns. Owner only. Wait-free.
  [[nodiscard]] std::size_t size_approx() const noexcept { return make_thief().size_approx(); }

  /// A thief handle on this ring.
  [[nodiscard]] thief make_thief() const noexcept { return queue().make_thief(); }

 private:
  friend class basic_ring;
  friend class thief;

  using handle::enter;
  using handle::queue;
  explicit owner(basic_ring& owned) noexcept : handle(owned) {}

  // The elements that drain() has claimed and not yet handed out: `left` of them, from count `next` on. If the sink
  // throws, the destructor pushes them again. There is room: drain() has emptied the ring, and each element is read
  // before a push can overwrite it.
  struct drained {
    owner& of;
    Index next;
    std::size_t left;

    drained(owner& o, Index from, std::size_t n) noexcept : of(o), next(from), left(n) {}
    drained(const drained&) = delete;
    drained& operator=(const drained&) = delete;
    ~drained() {
      while (!empty()) static_cast<void>(of.push(take()));
    }
    [[nodiscard]] bool empty() const noexcept { return left == 0; }
    [[nodiscard]] T take() noexcept {
      // [ring.drain.slot] relaxed, and after the claim: only the owner writes slots, and the owner is here.
      const T value = of.queue().slot(next).load(std::memory_order::relaxed);
      next = advance(next, 1);
      --left;
      return value;
    }
  };

  // Takes the older half of the ring's elements if there are at least `at_least`.
  [[nodiscard]] std::size_t shed(std::span<T, Capacity / 2> out, std::size_t at_least) noexcept {
    basic_ring& r = enter();
    // Linearises here if it finds too few,
    // [ring.shed.head] relaxed: the owner wrote the slots itself, and the claim fails if this head is old.
    Index h = r.head_.load(std::memory_order::relaxed);
    // [ring.shed.tail] relaxed: the owner is the only writer.
    const Index t = r.tail_.load(std::memory_order::relaxed);
    // The claim succeeds only if head is still `h`, so the distance read here is still right then.
    if (distance(h, t) < at_least) return 0;
    const std::size_t n = distance(h, t) / 2;
    for (std::size_t i = 0; i != n; ++i) {
      // [ring.shed.slot] relaxed: the owner wrote it; not used before the claim.
      out[i] = r.slot(advance(h, i)).load(std::memory_order::relaxed);
    }
    // and linearises here if it takes some.
    // [ring.shed.claim] release: as [ring.pop.claim]. Strong: the caller takes a failure for a thief's steal. Relaxed
    // on failure: nothing is read because of it.
    const bool claimed =
        r.head_.compare_exchange_strong(h, advance(h, n), std::memory_order::release, std::memory_order::relaxed);
    return claimed ? n : 0;
  }

  // The room at tail `t`: at least `wanted`, if there is that much. Reads the shared head only when the remembered one
  // leaves too little room.
  [[nodiscard]] std::size_t room(Index t, std::size_t wanted) noexcept {
    basic_ring& r = queue();
    const std::size_t known = Capacity - distance(r.head_seen_.get(), t);
    if (known >= wanted) return known;
    // room(), and a push that finds no room, linearises here.
    // [ring.room.head] acquire: pairs with [ring.steal.claim]: a thief has read its slots before they are overwritten.
    // kept: no model fails with relaxed, but then only a control dependency would order this load before the next store
    // to the slot, and C++ does not promise that order.
    const Index h = r.head_.load(std::memory_order::acquire);
    r.head_seen_.set(h);
    return Capacity - distance(h, t);
  }
};

/// The thieves' side. Copyable; any thread, at any time.
template <class T, std::size_t Capacity, class Index, class Atomics>
class basic_ring<T, Capacity, Index, Atomics>::thief {
 public:
  /// Takes n = min(⌈k/2⌉, limit, room in `into` + 1) of the k elements, oldest first, by one claim. Returns the newest
  /// of them, to be run at once; the other n-1 are now in `into`, in order.
  ///
  /// `into` is another ring, which the calling thread owns. `limit` is at least 1: a 0 ends the program in debug
  /// builds, and counts as 1 in others. One attempt, wait-free: at most 5 + 2·⌈Capacity/2⌉ atomic operations. `lost`
  /// means that another thread took something meanwhile; `empty` means that the ring was empty at some moment of the
  /// call.
  [[nodiscard]] steal_result<T> steal_half_into(owner& into, std::size_t limit = Capacity) const noexcept {
    basic_ring& mine = into.enter();
    Atomics::check(&mine != ring_, "ring: a ring cannot steal from itself");
    Atomics::check(limit >= 1, "ring: the limit of a steal is at least 1");
    const observation seen = observe();
    if (seen.status() != steal_status::taken) return {seen.status(), T{}, 0};
    const std::size_t wanted = std::min(seen.half(), std::max<std::size_t>(limit, 1));
    // [ring.steal.own_tail] relaxed: the caller owns `into` and is its tail's only writer.
    const Index mt = mine.tail_.load(std::memory_order::relaxed);
    const std::size_t n = std::min(wanted, into.room(mt, wanted - 1) + 1);
    for (std::size_t i = 0; i + 1 != n; ++i) {
      const T value = read(advance(seen.head, i));
      // [ring.steal.own_slot] relaxed: beyond the published tail; published by [ring.steal.publish].
      mine.slot(advance(mt, i)).store(value, std::memory_order::relaxed);
    }
    const T newest = read(advance(seen.head, n - 1));
    if (!claim(seen.head, n)) return {steal_status::lost, T{}, 0};
    // In `into`, the push of n-1 elements linearises here.
    // [ring.steal.publish] release: pairs with [ring.steal.tail] of a thief of this thief; weaker: the second thief
    // takes a task whose contents it cannot see.
    if (n > 1) mine.tail_.store(advance(mt, n - 1), std::memory_order::release);
    return {steal_status::taken, newest, n};
  }

  /// Takes n = min(⌈k/2⌉, out.size()) of the k elements, oldest first, by one claim, into `out`, in order. For a thief
  /// that has no ring, or runs all that it takes at once: no other thread reads `out`, so nothing is published again.
  ///
  /// `out` is not empty: an empty one ends the program in debug builds; other builds return `lost`. One attempt,
  /// wait-free: at most 3 + ⌈Capacity/2⌉ atomic operations. `lost` and `empty` mean what they mean for
  /// steal_half_into(); after `lost`, any part of `out` may hold garbage.
  [[nodiscard]] batch_result steal_half(std::span<T> out) const noexcept {
    Atomics::check(!out.empty(), "ring: a steal of half needs room for at least one element");
    if (out.empty()) return {steal_status::lost, 0};
    const observation seen = observe();
    if (seen.status() != steal_status::taken) return {seen.status(), 0};
    const std::size_t n = std::min(seen.half(), out.size());
    for (std::size_t i = 0; i != n; ++i) out[i] = read(advance(seen.head, i));
    return claim(seen.head, n) ? batch_result{steal_status::taken, n} : batch_result{steal_status::lost, 0};
  }

  /// Takes the oldest element. Needs no ring of the caller's. One attempt, wait-free.
  [[nodiscard]] steal_result<T> steal() const noexcept {
    const observation seen = observe();
    if (seen.status() != steal_status::taken) return {seen.status(), T{}, 0};
    const T value = read(seen.head);
    if (!claim(seen.head, 1)) return {steal_status::lost, T{}, 0};
    return {steal_status::taken, value, 1};
  }

  /// Whether there is something to take: the question to ask before going to sleep. False only if nothing that
  /// happened-before this call left an element behind. Wait-free.
  [[nodiscard]] bool has_work() const noexcept { return !observe().empty(); }

  /// A guess at the number of elements, 0 … Capacity, for statistics and for choosing victims. Before going to sleep
  /// ask has_work() instead. Wait-free.
  [[nodiscard]] std::size_t size_approx() const noexcept {
    // [ring.size.tail] relaxed: a guess.
    const Index t = ring_->tail_.load(std::memory_order::relaxed);
    // [ring.size.head] relaxed: a guess; the two may belong to different moments, hence the clamp.
    const Index h = ring_->head_.load(std::memory_order::relaxed);
    const std::size_t n = distance(h, t);
    return n <= Capacity ? n : 0;
  }

  /// Head and tail, read one after the other. With them local_queue can ask later whether the owner has pushed since.
  struct observation {
    Index head, tail;
    [[nodiscard]] bool empty() const noexcept { return head == tail; }
    /// The number of elements k, or more than Capacity if the head is older than the tail by so much.
    [[nodiscard]] std::size_t count() const noexcept { return distance(head, tail); }
    /// ⌈k/2⌉.
    [[nodiscard]] std::size_t half() const noexcept { return count() - count() / 2; }
    /// Whether a steal may take something. Not if there is nothing; nor if more than Capacity elements have passed
    /// since the head was read, because then a claim would fail.
    [[nodiscard]] steal_status status() const noexcept {
      if (empty()) return steal_status::empty;
      return count() > Capacity ? steal_status::lost : steal_status::taken;
    }
  };
  [[nodiscard]] observation observe() const noexcept {
    // [ring.steal.head] acquire: pairs with [ring.pop.claim] and [ring.steal.claim]: the tail read next is no older
    // than this head; weaker: a ring that never was empty looks empty.
    const Index h = ring_->head_.load(std::memory_order::acquire);
    // A steal or has_work() that finds nothing linearises here. What has_work() finds was there between the two
    // reads.
    // [ring.steal.tail] acquire: pairs with [ring.push.publish] and [ring.steal.publish]; weaker: this thief takes a
    // slot not yet written, or a task whose contents it cannot see.
    const Index t = ring_->tail_.load(std::memory_order::acquire);
    return {h, t};
  }
  [[nodiscard]] bool pushed_since(const observation& seen) const noexcept {
    // Linearises here.
    // [ring.observe.again] acquire: pairs with [ring.push.publish]. kept: no model of the queue alone fails with
    // relaxed, but a scheduler uses this answer to decide which threads sleep, and a thread that is told of a task must
    // see that task.
    return ring_->tail_.load(std::memory_order::acquire) != seen.tail;
  }

 private:
  friend class basic_ring;
  explicit thief(const basic_ring& ring) noexcept : ring_(&ring) {}

  [[nodiscard]] T read(Index at) const noexcept {
    // [ring.steal.slot] relaxed: may be garbage until the claim succeeds; never dereferenced before.
    return ring_->slot(at).load(std::memory_order::relaxed);
  }

  // Takes the n elements from count `h` on, if the head is still there.
  [[nodiscard]] bool claim(Index h, std::size_t n) const noexcept {
    // A steal that takes something linearises here.
    // [ring.steal.claim] release: pairs with [ring.room.head]: the slots were read before the owner may reuse them; and
    // with [ring.steal.head]: another thief that reads this head then reads a tail that is no older. Strong: the caller
    // takes a failure for a lost race. Relaxed on failure: everything read is dropped.
    return ring_->head_.compare_exchange_strong(h, advance(h, n), std::memory_order::release,
                                                std::memory_order::relaxed);
  }

  const basic_ring* ring_;
};

/// Go's local run queue: 256 slots.
template <class T>
using ring = basic_ring<T>;

}  // namespace runq

#endif  // C++20
