// SPDX-License-Identifier: MIT
// wait_group: lets tasks wait until a number of other tasks are done.
//
// Source of the interface: Go's sync.WaitGroup. The implementation is our own, because a C++ program may destroy the
// group as soon as wait() has returned. Models: models/cases/scheduler/wait_group/.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>

#include "runq/protocol/waiting.hpp"

namespace runq {

namespace detail {

enum class counting : unsigned char {
  done,      ///< the number was added
  negative,  ///< the count is negative now, and the group is of no more use
  too_many,  ///< the count is more than max_count now, likewise
  reused,    ///< the group counted again before those who wait for its last use were woken; likewise
};
/// Throws runq::misuse for what is not `done`.
[[noreturn]] void throw_wait_group_misuse(counting what);

/// A count and the tasks that wait for it to be 0, in one word, so that the step
/// that makes the count 0 learns whether somebody waits. It touches the group afterwards only if so, and who waits
/// cannot return, and destroy the group, before.
template <class Policy = task_waiting>
class wait_group_core {
  using atomics = typename Policy::atomics;
  using node = waiter<Policy>;

 public:
  wait_group_core() noexcept : state_(0) {}
  wait_group_core(const wait_group_core&) = delete;
  wait_group_core& operator=(const wait_group_core&) = delete;
  ~wait_group_core() { waiters_.forget_all(); }

  /// Any thread. Wait-free but for waking.
  [[nodiscard]] counting add(std::int64_t n) {
    // [wait_group.add] release: pairs with the acquire of whoever finds the count at 0, a waiter or who wakes the
    // waiters (wake.lock); weaker: a task that has waited does not see what was done.
    const std::int64_t before = state_.fetch_add(shifted(n), std::memory_order::release);
    const std::uint64_t count = static_cast<std::uint64_t>(before >> count_shift) + static_cast<std::uint64_t>(n);
    if (count > max_count) return n < 0 ? counting::negative : counting::too_many;
    if ((before & (locked | waited_for)) == 0) return counting::done;
    // Whoever made the count 0 is still about to wake those who wait. Who begins to wait now may be woken with them, or
    // not at all.
    if ((before >> count_shift) == 0) return n == 0 ? counting::done : counting::reused;
    if (count == 0) wake_waiters();
    return counting::done;
  }

  /// Whether the count is 0, and so nobody has to wait. Any thread. Wait-free.
  [[nodiscard]] bool done() const noexcept {
    // [wait_group.wait.peek] acquire: pairs with [wait_group.add].
    return (state_.load(std::memory_order::acquire) >> count_shift) == 0;
  }

  /// Puts `w` among the waiters, unless the count is 0: then false. After true the task may run at any moment,
  /// elsewhere.
  [[nodiscard]] bool enlist(node& w) noexcept {
    std::int64_t seen = 0;
    if (!lock(seen)) return false;
    waiters_.push_back(w);
    // [wait_group.unlock] release: pairs with [wait_group.lock] and [wait_group.wake.lock]. One step, so that who makes
    // the count 0 sees either a group that is locked or one that is waited for.
    state_.fetch_add(waited_for * ((seen & waited_for) == 0 ? 1 : 0) - locked, std::memory_order::release);
    return true;
  }

  /// The task of `w`, which waits(), is being destroyed.
  void leave(node& w) {
    std::int64_t seen = 0;
    bool left = false;
    if (lock(seen)) {
      left = w.linked.get();
      waiters_.remove(w);
      const bool last = left && waiters_.empty();
      // [wait_group.leave] release: as [wait_group.unlock].
      state_.fetch_sub(locked + (last ? waited_for : 0), std::memory_order::release);
    }
    // If not, then who has made the count 0 wakes all waiters.
    if (!left) w.await_waker(w.who.get());
  }

 private:
  // Locks the list, unless the count is 0: then false. `seen` is the state before.
  [[nodiscard]] bool lock(std::int64_t& seen) noexcept {
    // [wait_group.lock.peek] acquire: pairs with [wait_group.add], for the case that the count is 0.
    seen = state_.load(std::memory_order::acquire);
    do {
      if ((seen & locked) != 0) {
        Policy::spin_until([this, &seen] {
          // [wait_group.lock.again] acquire: likewise.
          seen = state_.load(std::memory_order::acquire);
          return (seen & locked) == 0;
        });
      }
      if ((seen >> count_shift) == 0) return false;
      // [wait_group.lock] acquire: pairs with [wait_group.unlock]: the list's last writer. On failure as
      // [wait_group.lock.peek].
    } while (
        !state_.compare_exchange_weak(seen, seen | locked, std::memory_order::acquire, std::memory_order::acquire));
    return true;
  }

  // By the one that made the count 0. Nobody begins to lock the group as long as it stays 0; if it does not, which is
  // an error (see counting::reused), the list is still only one thread's.
  void wake_waiters() {
    do {
      Policy::spin_until([this] {
        // [wait_group.wake.peek] relaxed: the next step decides.
        return (state_.load(std::memory_order::relaxed) & locked) == 0;
      });
      // [wait_group.wake.lock] acquire: pairs with [wait_group.unlock]: the list; and with [wait_group.add]: what all
      // the others did.
    } while ((state_.fetch_or(locked, std::memory_order::acquire) & locked) != 0);
    wake_list<Policy> woken;
    while (node* const w = waiters_.pop_front()) woken.add(*w, true);
    // [wait_group.wake.unlock] release: pairs with [wait_group.lock]: the list. Before any waiter is woken: the group
    // is ready for its next use then, or may be gone.
    state_.fetch_and(~(locked | waited_for), std::memory_order::release);
    woken.wake_all();
  }

  // n as a part of state_. What does not fit is found out afterwards.
  [[nodiscard]] static constexpr std::int64_t shifted(std::int64_t n) noexcept {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(n) << count_shift);
  }

  static constexpr std::int64_t locked = 1;      // somebody changes the list
  static constexpr std::int64_t waited_for = 2;  // the list is not empty
  static constexpr int count_shift = 2;
  static constexpr std::uint64_t max_count = (std::uint64_t{1} << 61) - 1;

  typename atomics::template atomic<std::int64_t> state_;
  wait_list<Policy> waiters_;  // under the lock bit; by who makes the count 0
};

}  // namespace detail

/// Counts tasks that are not done yet. Must not be destroyed while somebody waits for it; may be as soon as wait() has
/// returned. May be used again when all waits have returned: who adds before that, and while those who wait are being
/// woken, is told so. Tasks that wait when their run ends are destroyed: they may outlive the group, and if it outlives
/// them it forgets them.
///
///     runq::wait_group group;
///     group.add(1);
///     runq::go([&] { std::puts("hello"); group.done(); });
///     co_await group.wait();
class wait_group {
  class awaiter;

 public:
  wait_group() = default;
  wait_group(const wait_group&) = delete;
  wait_group& operator=(const wait_group&) = delete;

  /// Adds n, which may be negative, to the count; at 0 all waiting tasks become runnable. To be called before the tasks
  /// that are counted are started. Throws runq::misuse, and the group is of no more use then: for a negative count,
  /// "sync: negative WaitGroup counter"; for one of more than 2⁶¹ - 1; and when the count was 0 and those who waited
  /// for that have not been woken yet, "sync: WaitGroup is reused before previous Wait has returned …". Any thread.
  void add(std::int64_t n) {
    const detail::counting what = core_.add(n);
    if (what != detail::counting::done) detail::throw_wait_group_misuse(what);
  }
  /// add(-1).
  void done() { add(-1); }

  /// `co_await group.wait()` returns when the count is 0. Tasks only.
  [[nodiscard]] awaiter wait() noexcept;

 private:
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
  [[nodiscard]] bool await_ready() const noexcept { return core_.done() && !detail::time_slice_over(); }
  [[nodiscard]] bool await_suspend(std::coroutine_handle<> self) {
    waiter_.who.set(&detail::fall_asleep(self, wait_reason::semacquire));
    return core_.enlist(waiter_) || detail::give_way_or_go_on(*waiter_.who.get());
  }
  void await_resume() noexcept { waiter_.who.set(nullptr); }

 private:
  detail::wait_group_core<>& core_;
  detail::waiter<detail::task_waiting> waiter_;
};

inline wait_group::awaiter wait_group::wait() noexcept { return awaiter(core_); }

}  // namespace runq
