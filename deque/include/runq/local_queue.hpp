// SPDX-License-Identifier: MIT
// local_queue: what one processor of a scheduler owns: a runnext slot, a ring, and the way into the global queue when
// the ring is full.
//
// Source of the algorithm: the per-P run queue of Go's scheduler (runtime/proc.go: runqput, runqputslow, runqget,
// runqsteal, runqempty, globrunqget). Contract, protocol and rejected designs: docs/queues/local_queue.md.
// Models: models/cases/queues/local_queue/.
#pragma once

#if __cplusplus <= 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG <= 201703L)
#error "runqkit needs C++20: compile with -std=c++20, or as your compiler calls it"
#else

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "runq/atomics.hpp"
#include "runq/common.hpp"
#include "runq/inject.hpp"
#include "runq/ring.hpp"
#include "runq/runnext.hpp"

namespace runq {

/// Whether a thief that finds a victim's ring empty may take its runnext slot: Go allows it only in the last of four
/// rounds over all processors.
enum class steal_runnext : bool { no, yes };

/// What a pop returns: the task, or nullptr, and whether it came from the runnext slot. A scheduler lets a task from
/// runnext use only the rest of its predecessor's time slice, so that two tasks that keep readying each other cannot
/// keep the processor for ever.
template <class T>
struct popped {
  T* task = nullptr;
  bool from_runnext = false;

  [[nodiscard]] explicit operator bool() const noexcept { return task != nullptr; }
};

/// What a steal returns: a steal_result, and whether the task came from the victim's runnext slot.
template <class T>
struct stolen : steal_result<T*> {
  bool from_runnext = false;
};

/// A processor's queue of `T*`. One thread at a time holds the `owner`; any thread may hold a `thief`. Only an overflow
/// and `take_from` lock (the global queue's lock); nothing allocates. The queue must outlive its handles, and the
/// global queue must outlive the local queues. Tasks still inside when the queue is destroyed are not touched; debug
/// builds stop.
///
/// Link      pointer to the member of type inject_link, as in `local_queue<&task::link>`
/// Capacity  slots of the ring, a power of two, at least 2
/// Index     counter type of the ring
/// Atomics   the policy of the ring and of the runnext slot (runq/atomics.hpp); the global queue's is the link's
/// Ring      basic_ring, or basic_split_ring of the same elements, capacity and policy: see docs/queues/local_queue.md
template <auto Link, std::size_t Capacity = 256, class Index = std::uint64_t,
          class Atomics = typename inject<Link>::atomics,
          class Ring = basic_ring<typename inject<Link>::element*, Capacity, Index, Atomics>>
class basic_local_queue {
 public:
  using global_queue = inject<Link>;
  using element = typename global_queue::element;
  using value_type = element*;
  using atomics = Atomics;
  template <class Policy>
  using with_policy = basic_local_queue<Link, Capacity, Index, Policy, typename Ring::template with_policy<Policy>>;
  using chain = typename global_queue::chain;
  using ring_type = Ring;
  static_assert(std::is_same_v<typename Ring::value_type, element*> && Ring::capacity() == Capacity);
  using runnext_type = basic_runnext<element*, atomics>;
  class owner;
  class thief;

  /// A queue that overflows into `global`.
  explicit basic_local_queue(global_queue& global) noexcept : global_(&global) {}
  basic_local_queue(const basic_local_queue&) = delete;
  basic_local_queue& operator=(const basic_local_queue&) = delete;
  ~basic_local_queue() {
    atomics::check(!make_thief().has_work_approx(), "local_queue: destroyed with tasks in it; they are lost");
  }

  /// The one owner handle. In debug builds making a second one while the first exists ends the program.
  [[nodiscard]] owner make_owner() noexcept { return owner(*this); }

  /// A thief handle. Any thread, any number of them.
  [[nodiscard]] thief make_thief() const noexcept { return thief(*this); }

  [[nodiscard]] static constexpr std::size_t capacity() noexcept { return Capacity; }

 private:
  template <class>
  friend class one_object;
  using made_of = global_queue&;  // what one_object's constructor takes

  // Takes the tasks of `unused`, each in its place. No other thread may use either queue meanwhile.
  basic_local_queue(basic_local_queue&& unused) noexcept : global_(unused.global_.get()) {
    owner to = make_owner();
    owner from = unused.make_owner();
    while (const popped<element> next = from.pop()) {
      static_cast<void>(next.from_runnext ? to.push_next(next.task) : to.push(next.task));
    }
  }

  runnext_type runnext_;
  ring_type ring_;
  typename Atomics::template cell<global_queue*> global_;  // only the owner uses it
};

/// The processor's side. Move-only, used by one thread at a time; moving it hands the queue over.
template <auto Link, std::size_t Capacity, class Index, class Atomics, class Ring>
class basic_local_queue<Link, Capacity, Index, Atomics, Ring>::owner {
 public:
  /// Queues `task` behind all others of this processor. When the ring is full, its older half and `task`, in this
  /// order, go to the global queue as one batch. Returns how many went there: 0, or ⌊Capacity/2⌋ + 1. Owner only.
  /// Lock-free while there is room.
  std::size_t push(element* task) noexcept {
    // Linearises here, as the ring's push; an overflow does not linearise: the tasks leave the ring first, and reach
    // the global queue later.
    while (!ring_.push(task)) {
      if (const std::size_t moved = overflow(task); moved != 0) return moved;
      // A thief moved first, so there is room now.
    }
    return 0;
  }

  /// Makes `task` the next to run; the task that was to run next moves to the ring's tail, as if by push(). Returns how
  /// many tasks moved to the global queue because the ring was full. Owner only. Lock-free while there is room.
  std::size_t push_next(element* task) noexcept {
    // From here until push() has put it into the ring, the displaced task is in neither place; see thief::has_work().
    // For `task` it linearises here, as the slot's put; the displaced task follows in push().
    const std::optional<element*> displaced = runnext_.put(task);
    return displaced ? push(*displaced) : 0;
  }

  /// Whether the runnext slot is free, so that push_next() displaces nothing. Owner only. Wait-free.
  [[nodiscard]] bool next_is_free() noexcept { return !runnext_.occupied(); }

  /// Queues a batch, in order, with one publication; what does not fit goes to the global queue, in order, under one
  /// lock. Returns how many went there. Owner only. Lock-free while there is room.
  std::size_t push_batch(chain&& batch) noexcept {
    std::array<element*, Capacity> slots;
    std::size_t n = 0;
    for (const std::size_t room = ring_.room(); n != room && !batch.empty(); ++n) slots[n] = batch.pop_front();
    // Linearises here, as the ring's push_batch; what does not fit reaches the global queue later.
    const std::size_t pushed = ring_.push_batch(std::span<element* const>(slots.data(), n));
    atomics::check(pushed == n, "local_queue: the ring's room shrank under its owner");
    const std::size_t overflowed = batch.size();
    queue_->global_.get()->splice(std::move(batch));
    return overflowed;
  }

  /// Takes the next task: the runnext slot's, else the ring's oldest. Owner only. Lock-free.
  [[nodiscard]] popped<element> pop() noexcept {
    // Linearises here if the slot has a task,
    if (const std::optional<element*> next = runnext_.take()) return {*next, true};
    // and linearises here if it has none, as the ring's pop.
    if (const std::optional<element*> task = ring_.pop()) return {*task, false};
    return {};
  }

  /// Takes the ring's oldest task, or nullptr, and leaves the runnext slot alone: for a scheduler that bounds how many
  /// tasks in a row come from that slot. Owner only. Lock-free.
  [[nodiscard]] element* pop_oldest() noexcept { return ring_.pop().value_or(nullptr); }

  /// Takes a fair share of the global queue (inject::take_batch): returns the first task, or nullptr, and queues the
  /// others here. `procs` is the number of processors that share it, at least 1. Owner only. Locks.
  [[nodiscard]] element* take_from(global_queue& global, std::size_t procs) noexcept {
    // Does not linearise: the tasks leave the global queue first, and reach this one later.
    chain batch = global.take_batch(procs, ring_.room() + 1);
    element* const first = batch.pop_front();
    push_batch(std::move(batch));
    return first;
  }

  /// Takes half of the victim's ring, at most `limit` tasks, into this one's; the newest of them is returned to be run
  /// at once. If the victim's ring is empty and `next` allows it, takes the victim's runnext instead, after `backoff`
  /// pauses. `victim` is another queue's. Owner only (of this queue). Wait-free.
  [[nodiscard]] stolen<element> steal_from(const thief& victim, steal_runnext next = steal_runnext::no,
                                           std::size_t limit = Capacity,
                                           std::size_t backoff = runnext_type::default_backoff) noexcept {
    // Linearises here, as the ring's steal, if that takes something. Nothing in both places does not linearise: they
    // are looked at one after the other.
    const steal_result<element*> from_ring = victim.ring_.steal_half_into(ring_, limit);
    if (from_ring.status != steal_status::empty || next == steal_runnext::no) return {from_ring, false};
    // Linearises here, as the slot's steal, if that takes something.
    const steal_result<element*> from_slot = victim.runnext_.steal(backoff);
    return {from_slot, static_cast<bool>(from_slot)};
  }

  /// Takes all tasks, the runnext task first and then the ring's, oldest first. For a processor that retires. Owner
  /// only. Lock-free.
  [[nodiscard]] chain drain() noexcept {
    // Does not linearise as a whole: it empties the slot first, and then the ring.
    chain all;
    if (const std::optional<element*> next = runnext_.take()) all.push_back(*next);
    // The ring claims all before it hands out the first, so linking is safe: no other thread holds them.
    ring_.drain([&all](element* task) noexcept { all.push_back(task); });
    return all;
  }

  /// Tasks in the ring, 0 … Capacity; the runnext slot is not counted. Owner only. Wait-free.
  [[nodiscard]] std::size_t size_approx() const noexcept { return ring_.size_approx(); }

  /// From now on what finds no room goes to `global`, which must outlive this queue: for a scheduler whose global queue
  /// is in shards. Owner only. Wait-free.
  void overflow_into(global_queue& global) noexcept {
    // Does not linearise: only the owner uses this.
    queue_->global_.set(&global);
  }

  /// Makes the next thread that uses this handle its owner, as a move would. The hand-over must happen-before that use.
  void rebind() noexcept {
    ring_.rebind();
    runnext_.rebind();
  }

 private:
  friend class basic_local_queue;
  explicit owner(basic_local_queue& q) noexcept
      : queue_(&q), ring_(q.ring_.make_owner()), runnext_(q.runnext_.make_owner()) {}

  // Moves the older half of the full ring and `task` to the global queue; returns how many, or 0 when a thief has made
  // room meanwhile.
  std::size_t overflow(element* task) noexcept {
    if constexpr (detail::counts_owners<Atomics>) {
      return overflow(ring_, *queue_->global_.get(), task);
    } else {
      // A handle for this call, so that a compiler need not keep the one that push() is called with in memory.
      typename ring_type::owner ring = queue_->ring_.make_owner();
      return overflow(ring, *queue_->global_.get(), task);
    }
  }
  static std::size_t overflow(typename ring_type::owner& ring, global_queue& global, element* task) noexcept {
    std::array<element*, Capacity / 2> oldest;
    const std::size_t n = ring.shed_half_of_full(oldest);
    if (n == 0) return 0;
    // The tasks are linked only now: before the claim a thief could have taken them.
    chain batch;
    for (std::size_t i = 0; i != n; ++i) batch.push_back(oldest[i]);
    batch.push_back(task);
    global.splice(std::move(batch));
    return n + 1;
  }

  basic_local_queue* queue_;
  typename ring_type::owner ring_;
  typename runnext_type::owner runnext_;
};

/// The other processors' side. Copyable; any thread, at any time.
template <auto Link, std::size_t Capacity, class Index, class Atomics, class Ring>
class basic_local_queue<Link, Capacity, Index, Atomics, Ring>::thief {
 public:
  /// Whether there is something to take, runnext included: the question to ask before going to sleep. False only if, at
  /// some moment of the call, every task of this queue had been taken or was on its way from runnext to the ring in
  /// push_next(): in that case the owner is awake and about to publish it. It is totally ordered with a push_next()
  /// that displaces nothing (owner::next_is_free()): either has_work() sees the task, or push_next(), once it returns,
  /// sees everything that the caller did before has_work(). Lock-free: it looks again only when the owner has pushed
  /// meanwhile.
  [[nodiscard]] bool has_work() const noexcept {
    return ring_or([this] { return runnext_.has_work(); });
  }

  /// A guess at whether there is something to take, runnext included, which costs the owner less. False only as of
  /// has_work(), but it is not ordered with push_next(): before going to sleep ask has_work() instead
  /// (docs/sleeping.md). Lock-free, as has_work() is.
  [[nodiscard]] bool has_work_approx() const noexcept {
    return ring_or([this] { return runnext_.has_work_approx(); });
  }

  /// A guess at the number of tasks in the ring, 0 … Capacity, for statistics and for choosing victims. Wait-free.
  [[nodiscard]] std::size_t size_approx() const noexcept { return ring_.size_approx(); }

 private:
  friend class basic_local_queue;
  friend class owner;
  explicit thief(const basic_local_queue& q) noexcept
      : ring_(q.ring_.make_thief()), runnext_(q.runnext_.make_thief()) {}

  template <class Next>
  [[nodiscard]] bool ring_or(Next&& next_has_work) const noexcept {
    for (;;) {
      // Does not linearise: a task that moves from the slot to the ring may be in neither; see has_work().
      const auto seen = ring_.observe();
      if (!seen.empty()) return true;
      // The task that push_next() displaces moves from runnext to the ring. Reading the ring first and runnext second
      // could miss it in both places, so the ring's tail is read once more.
      if (next_has_work()) return true;
      if (!ring_.pushed_since(seen)) return false;
    }
  }

  typename ring_type::thief ring_;
  typename runnext_type::thief runnext_;
};

/// A processor's queue as Go has it: runnext and a ring of 256.
template <auto Link>
using local_queue = basic_local_queue<Link>;

}  // namespace runq

#endif  // C++20
