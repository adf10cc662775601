// SPDX-License-Identifier: MIT
// runnext: one slot in front of a run queue, for the task that its owner made runnable last.
//
// Source of the algorithm: `p.runnext` of Go's scheduler (runtime/proc.go: runqput, runqget, runqgrab). A task that was
// just readied usually finds its data in this core's cache, so it runs next; thieves leave it alone for a moment.
// Contract, protocol and rejected designs: docs/queues/runnext.md. Models: models/cases/queues/runnext/.
#pragma once

#if __cplusplus <= 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG <= 201703L)
#error "runqkit needs C++20: compile with -std=c++20, or as your compiler calls it"
#else

#include <cstddef>
#include <optional>
#include <utility>

#include "runq/atomics.hpp"
#include "runq/common.hpp"

namespace runq {

/// A slot for one element; `T{}` (a null pointer, a zero) means "empty" and cannot be stored.
///
/// One thread at a time holds the `owner` (put, take); any thread may hold a `thief`. Nothing allocates, locks, sleeps
/// or makes a system call. The slot must outlive its handles.
///
/// T        trivially copyable and lock-free: a pointer or a small integer
/// Atomics  the policy (runq/atomics.hpp)
template <class T, class Atomics = std_atomics>
class basic_runnext {
  static_assert(detail::is_slot_value<T>);

  template <class U>
  using atomic = typename Atomics::template atomic<U>;

 public:
  using value_type = T;
  class owner;
  class thief;

  /// How often a thief pauses, by default, between seeing a task here and claiming it: some 3 µs in all where a pause
  /// takes 45 ns. Go asks the system for a sleep of 3 µs instead, which on Linux takes about 60 µs.
  static constexpr std::size_t default_backoff = 64;

  basic_runnext() noexcept : slot_(T{}) {}
  basic_runnext(const basic_runnext&) = delete;
  basic_runnext& operator=(const basic_runnext&) = delete;

  /// The one owner handle. In debug builds making a second one while the first exists ends the program.
  [[nodiscard]] owner make_owner() noexcept { return owner(*this); }

  /// A thief handle. Any thread, any number of them.
  [[nodiscard]] thief make_thief() const noexcept { return thief(*this); }

 private:
  // Only the owner writes values that are not empty; any thread may empty the slot by a read-modify-write.
  alignas(cache_line) mutable atomic<T> slot_;
  template <class, class>
  friend class detail::owner_handle;
  static constexpr detail::owner_misuse misuse{"runnext: make_owner() was called twice; a slot has one owner",
                                               "runnext: this owner handle has been moved from",
                                               "runnext: an owner operation was called from a second thread; "
                                               "move the owner handle, or call rebind(), to hand the slot over"};
  detail::owner_flag<Atomics> owned_;
};

/// The owner's side. Move-only, used by one thread at a time; moving it hands the slot over.
template <class T, class Atomics>
class basic_runnext<T, Atomics>::owner : public detail::owner_handle<basic_runnext, Atomics> {
  using handle = detail::owner_handle<basic_runnext, Atomics>;

 public:
  /// Puts `value`, which is not `T{}`, in the slot and returns what it displaced, if anything: the caller queues that
  /// elsewhere. Owner only. Wait-free.
  [[nodiscard]] std::optional<T> put(T value) noexcept {
    basic_runnext& r = enter();
    Atomics::check(value != T{}, "runnext: the empty value cannot be stored");
    // Linearises here.
    // [runnext.put] acq_rel: release pairs with [runnext.steal.claim]; weaker: a thief runs a task whose contents it
    // cannot see. Acquire pairs with [runnext.has_work]; weaker: a scheduler that relies on has_work() lets a machine
    // sleep although there is a task.
    const T displaced = r.slot_.exchange(value, std::memory_order::acq_rel);
    if (displaced == T{}) return std::nullopt;
    return displaced;
  }

  /// Takes the element, unless a thief has taken it. Owner only. Wait-free.
  [[nodiscard]] std::optional<T> take() noexcept {
    basic_runnext& r = enter();
    // Linearises here if it finds nothing,
    // [runnext.take.peek] relaxed: only the owner fills the slot, so a slot that the owner sees empty is empty.
    if (r.slot_.load(std::memory_order::relaxed) == T{}) return std::nullopt;
    // and linearises here if it finds an element, or a thief has taken it since.
    // [runnext.take] release: pairs with [runnext.has_work] and [runnext.has_work_approx]: an observer that finds the
    // slot emptied sees everything that the owner published before; weaker: local_queue::has_work() misses the task
    // that a put displaced. An exchange, not a compare-exchange: the owner takes whatever is there now.
    const T value = r.slot_.exchange(T{}, std::memory_order::release);
    if (value == T{}) return std::nullopt;
    return value;
  }

  /// Whether the slot holds an element, which a put() would displace; a thief may take it meanwhile. Owner only.
  /// Wait-free.
  [[nodiscard]] bool occupied() noexcept {
    basic_runnext& r = enter();
    // Linearises here.
    // [runnext.occupied] relaxed: only the owner fills the slot, so a slot that the owner sees empty is empty.
    return r.slot_.load(std::memory_order::relaxed) != T{};
  }

 private:
  friend class basic_runnext;
  using handle::enter;
  explicit owner(basic_runnext& owned) noexcept : handle(owned) {}
};

/// The thieves' side. Copyable; any thread, at any time.
template <class T, class Atomics>
class basic_runnext<T, Atomics>::thief {
 public:
  /// Takes the element if it is still there after `backoff` pauses. The pauses leave it to the owner, which usually
  /// runs it soon and has its data in its cache. `lost` means that the slot changed meanwhile. Any thread. Wait-free.
  [[nodiscard]] steal_result<T> steal(std::size_t backoff = default_backoff) const noexcept {
    // Linearises here if it finds nothing,
    // [runnext.steal.peek] relaxed: the value is only compared.
    T seen = slot_->load(std::memory_order::relaxed);
    if (seen == T{}) return {};
    for (std::size_t i = 0; i != backoff; ++i) {
      Atomics::pause();
      // [runnext.steal.watch] relaxed: the value is only compared.
      if (slot_->load(std::memory_order::relaxed) != seen) return {steal_status::lost, T{}, 0};
    }
    // and linearises here if it takes the element.
    // [runnext.steal.claim] acquire: pairs with [runnext.put]; weaker: this thief runs a task whose contents it cannot
    // see. The same value may have left and come back (ABA), which is harmless: the task is then runnable again, and
    // nothing read before is used. Relaxed on failure: the value is dropped.
    if (!slot_->compare_exchange_strong(seen, T{}, std::memory_order::acquire, std::memory_order::relaxed)) {
      return {steal_status::lost, T{}, 0};
    }
    return {steal_status::taken, seen, 1};
  }

  /// Whether the slot holds an element: the question to ask before going to sleep. It is asked by a read-modify-write,
  /// so it is totally ordered with put(): either has_work() sees the element, or put(), once it returns, sees
  /// everything that the caller did before has_work(). Then a put() needs no fence before it asks whether a machine
  /// sleeps. It costs the owner a cache miss. Any thread. Wait-free.
  [[nodiscard]] bool has_work() const noexcept {
    T empty{};
    // Linearises here.
    // [runnext.has_work] acq_rel: release pairs with [runnext.put]; weaker: a scheduler that relies on has_work() lets
    // a machine sleep although there is a task. Acquire, on failure as well, pairs with [runnext.take]; weaker:
    // local_queue::has_work() misses the task that a put displaced.
    return !slot_->compare_exchange_strong(empty, T{}, std::memory_order::acq_rel, std::memory_order::acquire);
  }

  /// A guess at whether the slot holds an element, which costs the owner less: a load. Before going to sleep ask
  /// has_work() instead: docs/sleeping.md. Any thread. Wait-free.
  [[nodiscard]] bool has_work_approx() const noexcept {
    // [runnext.has_work_approx] acquire: pairs with [runnext.take]: an observer that finds the slot emptied sees
    // everything that the owner published before; weaker: local_queue::has_work_approx() misses the task that a put
    // displaced.
    return slot_->load(std::memory_order::acquire) != T{};
  }

 private:
  friend class basic_runnext;
  explicit thief(const basic_runnext& slot) noexcept : slot_(&slot.slot_) {}

  atomic<T>* slot_;
};

template <class T>
using runnext = basic_runnext<T>;

}  // namespace runq

#endif  // C++20
