// SPDX-License-Identifier: MIT
// wait_group: lets tasks wait until a number of other tasks are done.
//
// Source of the interface: Go's sync.WaitGroup. The implementation is our own, because a C++ program may destroy the
// group as soon as wait() has returned. Models: models/cases/scheduler/wait_group/.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <stop_token>
#include <utility>

#include "runq/protocol/waiting.hpp"
#include "runq/task.hpp"

namespace runq {

class latch;

namespace detail {

enum class counting : unsigned char {
  done,      ///< the number was added
  negative,  ///< the count is negative now, and the group is of no more use
  too_many,  ///< the count is more than max_count now, and the group cannot be used any more
  reused,    ///< the group counted again before all waiters of its last use were woken, and cannot be used any more
};
/// Throws the runq::misuse that belongs to `what`, unless that is `done`.
[[noreturn]] void throw_wait_group_misuse(counting what);

/// A count and the tasks that wait for it to be 0, in one word, so that the step that makes the count 0 learns whether
/// a task waits. Only then does that thread touch the group afterwards, and until then no waiter can return and destroy
/// the group.
template <class Policy = task_waiting>
class wait_group_core {
  using atomics = typename Policy::atomics;
  using node = waiter<Policy>;

 public:
  wait_group_core() noexcept : state_(0) {}
  wait_group_core(const wait_group_core&) = delete;
  wait_group_core& operator=(const wait_group_core&) = delete;
  ~wait_group_core() {
    // The lock orders this after what tasks on other machines did when they began to wait.
    std::int64_t seen = 0;
    if (lock(seen)) waiters_.forget_all();
  }

  /// Any thread. Wait-free, except when it wakes waiters.
  [[nodiscard]] counting add(std::int64_t n) {
    // [wait_group.add] release: pairs with [wait_group.wait.peek], [wait_group.lock] and [wait_group.wake.lock], where
    // they find the count at 0; weaker: a task that has waited does not see what was done.
    const std::int64_t before = state_.fetch_add(shifted(n), std::memory_order::release);
    const std::uint64_t count = static_cast<std::uint64_t>(before >> count_shift) + static_cast<std::uint64_t>(n);
    if (count > max_count) return n < 0 ? counting::negative : counting::too_many;
    if ((before & (locked | waited_for)) == 0) return counting::done;
    // The thread that made the count 0 has not yet woken the waiters. A task that begins to wait now may be woken with
    // them, or not at all.
    if ((before >> count_shift) == 0) return n == 0 ? counting::done : counting::reused;
    if (count == 0) wake_waiters();
    return counting::done;
  }

  /// Whether the count is 0, so that a task does not have to wait. Any thread. Wait-free.
  [[nodiscard]] bool done() const noexcept {
    // [wait_group.wait.peek] acquire: pairs with [wait_group.add]; weaker: a task that need not wait does not see what
    // was done.
    return (state_.load(std::memory_order::acquire) >> count_shift) == 0;
  }

  /// Puts `w` among the waiters and returns true; or returns false when the count is 0. After true another machine may
  /// run the task at any moment.
  [[nodiscard]] bool enlist(node& w) noexcept {
    std::int64_t seen = 0;
    if (!lock(seen)) return false;
    put_in_and_unlock(w, seen);
    return true;
  }

  /// Like the function above, for a waiter that may be withdrawn; if it was withdrawn already, it does not wait. When
  /// the task goes on, w.ok says whether the count was 0.
  [[nodiscard]] bool enlist(revocable_waiter<Policy>& w) noexcept {
    std::int64_t seen = 0;
    if (!lock(seen)) {
      w.ok.set(true);
      return false;
    }
    if (w.withdrawn.get()) {
      (void)take_out_and_unlock(w);
      return false;
    }
    put_in_and_unlock(w, seen);
    return true;
  }

  /// Ends the wait of the task of `w`, or keeps it from waiting. True: the task was waiting, goes on, and the caller
  /// must wake it. False: the task goes on, or is about to, without the caller. Before the task goes on or is
  /// destroyed, it waits until this call has returned.
  [[nodiscard]] bool withdraw(revocable_waiter<Policy>& w) noexcept {
    std::int64_t seen = 0;
    if (!lock(seen)) return false;
    w.withdrawn.set(true);
    return take_out_and_unlock(w);
  }

  /// To be called when the task of `w`, which waits(), is destroyed.
  void leave(node& w) {
    std::int64_t seen = 0;
    // If `w` is not in the list, the thread that has made the count 0 wakes all waiters.
    // by chance: that happens at this moment; models/cases/scheduler/wait_group/.
    if (!lock(seen) || !take_out_and_unlock(w)) w.await_waker(w.who.get());
  }

 private:
  // With the list locked, whose state was `seen` before.
  void put_in_and_unlock(node& w, std::int64_t seen) noexcept {
    waiters_.push_back(w);
    // [wait_group.unlock] release: pairs with [wait_group.lock] and [wait_group.wake.lock]; weaker: they do not see the
    // list as this thread left it. One step unlocks and sets the mark, so that the thread that makes the count 0 sees
    // either that the group is locked or that a task waits.
    state_.fetch_add(waited_for * ((seen & waited_for) == 0 ? 1 : 0) - locked, std::memory_order::release);
  }

  // With the list locked. Returns whether `w` was in it.
  [[nodiscard]] bool take_out_and_unlock(node& w) noexcept {
    const bool was_in = w.linked.get();
    waiters_.remove(w);
    const bool last = was_in && waiters_.empty();
    // [wait_group.leave] release: as [wait_group.unlock].
    state_.fetch_sub(locked + (last ? waited_for : 0), std::memory_order::release);
    return was_in;
  }

  // Locks the list and returns true; or returns false when the count is 0. `seen` is the state before.
  [[nodiscard]] bool lock(std::int64_t& seen) noexcept {
    // [wait_group.lock.peek] acquire: as [wait_group.wait.peek], for the case that the count is 0.
    seen = state_.load(std::memory_order::acquire);
    do {
      if ((seen & locked) != 0) {
        Policy::spin_until([this, &seen] {
          // [wait_group.lock.again] acquire: as [wait_group.wait.peek], for the case that the count is 0.
          seen = state_.load(std::memory_order::acquire);
          return (seen & locked) == 0;
        });
      }
      if ((seen >> count_shift) == 0) return false;
      // [wait_group.lock] acquire: pairs with [wait_group.unlock] and [wait_group.wake.unlock]: the list's last writer;
      // weaker: this thread does not see the list as that writer left it. Acquire on failure pairs with
      // [wait_group.add], for the case that the count is 0.
    } while (
        !state_.compare_exchange_weak(seen, seen | locked, std::memory_order::acquire, std::memory_order::acquire));
    return true;
  }

  // To be called by the thread that made the count 0. As long as the count stays 0, no task begins to lock the group.
  // If the count grows, which is an error (see counting::reused), still only one thread has the list.
  void wake_waiters() {
    do {
      Policy::spin_until([this] {
        // [wait_group.wake.peek] relaxed: the next step decides.
        return (state_.load(std::memory_order::relaxed) & locked) == 0;
      });
      // [wait_group.wake.lock] acquire: pairs with [wait_group.unlock]: the list; and with [wait_group.add]: what all
      // the others did.
      // by chance: another thread locks between these two steps; models/cases/scheduler/wait_group/.
    } while ((state_.fetch_or(locked, std::memory_order::acquire) & locked) != 0);
    wake_list<Policy> woken;
    while (node* const w = waiters_.pop_front()) {
      w->ok.set(true);
      woken.add(*w, true);
    }
    // [wait_group.wake.unlock] release: pairs with [wait_group.lock]: the list. This comes before any waiter is woken,
    // because a waiter may use the group again, or destroy it.
    state_.fetch_and(~(locked | waited_for), std::memory_order::release);
    woken.wake_all();
  }

  // n as a part of state_. If n does not fit, the caller finds that out afterwards.
  [[nodiscard]] static constexpr std::int64_t shifted(std::int64_t n) noexcept {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(n) << count_shift);
  }

  static constexpr std::int64_t locked = 1;      // a thread changes the list
  static constexpr std::int64_t waited_for = 2;  // the list is not empty
  static constexpr int count_shift = 2;
  static constexpr std::uint64_t max_count = (std::uint64_t{1} << 61) - 1;

  typename atomics::template atomic<std::int64_t> state_;
  wait_list<Policy> waiters_;  // under the lock bit, or used by the thread that made the count 0
};

}  // namespace detail

/// Counts tasks that are not done yet. The group must not be destroyed while a task waits for it, but may be as soon as
/// wait() has returned. It may be used again when all waits have returned: an add() that comes while the waiters are
/// being woken throws. Tasks that wait when their run ends are destroyed: they may outlive the group, and if it
/// outlives them it forgets them.
///
///     runq::wait_group group;
///     group.add(1);
///     runq::go([&] { std::puts("hello"); group.done(); });
///     co_await group.wait();
class wait_group {
  class awaiter;
  class stoppable_awaiter;

 public:
  wait_group() = default;
  wait_group(const wait_group&) = delete;
  wait_group& operator=(const wait_group&) = delete;

  /// Adds n, which may be negative, to the count; at 0 all waiting tasks become runnable. Call it before you start the
  /// tasks that it counts. Throws runq::misuse, and then the group cannot be used any more: for a negative count,
  /// "sync: negative WaitGroup counter"; for one of more than 2⁶¹ - 1; and when the count was 0 and the tasks that
  /// waited have not been woken yet, "sync: WaitGroup is reused before previous Wait has returned …". Any thread.
  void add(std::int64_t n) {
    const detail::counting what = core_.add(n);
    if (what != detail::counting::done) detail::throw_wait_group_misuse(what);
  }
  /// add(-1).
  void done() { add(-1); }

  /// `co_await group.wait()` returns when the count is 0. Tasks only.
  [[nodiscard]] awaiter wait() noexcept;
  /// Like wait(), but a stop request ends the wait, and runq::cancelled is thrown. If the count is 0 and a stop was
  /// requested, the wait may end either way.
  [[nodiscard]] stoppable_awaiter wait(std::stop_token stop) noexcept;

 private:
  friend latch;
  detail::wait_group_core<> core_;
};

class [[nodiscard]] wait_group::awaiter {
 public:
  explicit awaiter(detail::wait_group_core<>& core) noexcept : core_(core) {}
  awaiter(const awaiter&) = delete;
  awaiter& operator=(const awaiter&) = delete;
  ~awaiter() {
    if (waiter_.waits()) core_.leave(waiter_);
  }
  /// Whether the task waits and was not woken. Called by the thread that destroys it.
  [[nodiscard]] bool waits() const { return waiter_.waits(); }
  [[nodiscard]] bool await_ready() const noexcept { return core_.done() && !detail::time_slice_over(); }
  [[nodiscard]] bool await_suspend(std::coroutine_handle<> self, source_place at = source_place::here()) {
    waiter_.who.set(&detail::fall_asleep(self, wait_reason::semacquire, at));
    return core_.enlist(waiter_) || detail::preempt_or_go_on(*waiter_.who.get());
  }
  void await_resume() noexcept { waiter_.who.set(nullptr); }
  /// For with_timeout(): makes the awaiter of the same wait with a token.
  [[nodiscard]] auto stoppable() && noexcept;

 private:
  detail::wait_group_core<>& core_;
  detail::waiter<detail::task_waiting> waiter_;
};

class [[nodiscard]] wait_group::stoppable_awaiter {
 public:
  stoppable_awaiter(detail::wait_group_core<>& core, std::stop_token stop) noexcept
      : core_(core), stop_(std::move(stop)) {}
  stoppable_awaiter(const stoppable_awaiter&) = delete;
  stoppable_awaiter& operator=(const stoppable_awaiter&) = delete;
  ~stoppable_awaiter() {
    if (waiter_.who.get() == nullptr) return;
    stop_wait_.end();
    if (waiter_.waits()) core_.leave(waiter_);
  }
  /// Whether the task waits and was not woken. Called by the thread that destroys it.
  [[nodiscard]] bool waits() const { return waiter_.waits(); }
  [[nodiscard]] bool await_ready() const {
    if (stop_.stop_requested()) throw cancelled();
    return core_.done() && !detail::time_slice_over();
  }
  [[nodiscard]] bool await_suspend(std::coroutine_handle<> self, source_place at = source_place::here()) {
    detail::strand& s = detail::fall_asleep(self, wait_reason::semacquire, at);
    waiter_.who.set(&s);
    stop_wait_.begin(*s.home, stop_, {core_, waiter_});
    return core_.enlist(waiter_) || detail::preempt_or_go_on(s);
  }
  void await_resume() {
    if (waiter_.who.get() == nullptr) return;
    stop_wait_.end();
    waiter_.who.set(nullptr);
    if (!waiter_.ok.get()) throw cancelled();
  }

 private:
  detail::wait_group_core<>& core_;
  std::stop_token stop_;
  detail::revocable_waiter<detail::task_waiting> waiter_;
  detail::stoppable_wait<
      detail::withdraw_and_wake<detail::wait_group_core<>, detail::revocable_waiter<detail::task_waiting>>>
      stop_wait_;
};

inline auto wait_group::awaiter::stoppable() && noexcept {
  return [&core = core_](std::stop_token stop) { return stoppable_awaiter(core, std::move(stop)); };
}

inline wait_group::awaiter wait_group::wait() noexcept { return awaiter(core_); }
inline wait_group::stoppable_awaiter wait_group::wait(std::stop_token stop) noexcept {
  return {core_, std::move(stop)};
}

}  // namespace runq
