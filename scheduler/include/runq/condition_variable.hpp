// SPDX-License-Identifier: MIT
// condition_variable: lets tasks wait until what a mutex protects has changed.
//
// Source of the interface: std::condition_variable_any. Models: models/cases/scheduler/condition_variable/.
#pragma once

#include <coroutine>
#include <functional>
#include <mutex>
#include <stop_token>
#include <utility>

#include "runq/detail/temporaries.hpp"
#include "runq/mutex.hpp"
#include "runq/protocol/waiting.hpp"
#include "runq/task.hpp"

namespace runq {

namespace detail {

/// The tasks that wait for a notification.
template <class Policy = task_waiting>
class condition_core {
  using atomics = typename Policy::atomics;
  using node = waiter<Policy>;

 public:
  condition_core() = default;
  condition_core(const condition_core&) = delete;
  condition_core& operator=(const condition_core&) = delete;
  ~condition_core() {
    // The lock orders this after what tasks on other machines did when they began to wait.
    const std::lock_guard guard(guard_);
    waiters_.forget_all();
  }

  /// Puts `w` among the waiters, and only then unlocks `held`, so that it misses no notification that comes after a
  /// change under the mutex. True: another machine may run the task at any moment. False: it was withdrawn already, and
  /// does not wait. When the task goes on, w.ok says whether it was notified.
  [[nodiscard]] bool wait(revocable_waiter<Policy>& w, mutex_core<Policy>& held) {
    const bool waits = enlist(w);
    (void)held.unlock();
    return waits;
  }
  /// Ends the wait of the task of `w`, or keeps it from waiting. True: the task was waiting, goes on without a
  /// notification, and the caller must wake it. False: the task goes on, or is about to, without the caller.
  [[nodiscard]] bool withdraw(revocable_waiter<Policy>& w) {
    const std::lock_guard guard(guard_);
    w.withdrawn.set(true);
    if (!w.linked.get()) return false;
    waiters_.remove(w);
    return true;
  }
  /// Wakes the task that has waited longest.
  void notify_one() {
    wake_list<Policy> woken;
    {
      const std::lock_guard guard(guard_);
      if (node* const first = waiters_.pop_front()) notify(*first, woken);
    }
    woken.wake_all();
  }
  /// All that wait go on.
  void notify_all() {
    wake_list<Policy> woken;
    {
      const std::lock_guard guard(guard_);
      while (node* const first = waiters_.pop_front()) notify(*first, woken);
    }
    woken.wake_all();
  }
  /// To be called when a task is destroyed while its waiter `w` waits().
  void leave(node& w) { (void)detail::leave(waiters_, w, guard_); }

 private:
  [[nodiscard]] bool enlist(revocable_waiter<Policy>& w) {
    const std::lock_guard guard(guard_);
    if (w.withdrawn.get()) return false;
    waiters_.push_back(w);
    return true;
  }
  static void notify(node& w, wake_list<Policy>& woken) {
    w.ok.set(true);
    woken.add(w, true);
  }

  typename atomics::mutex guard_;
  wait_list<Policy> waiters_;  // under guard_
};

}  // namespace detail

/// Tasks that hold a mutex wait here for others to change what it protects. A task that waits gives the mutex back
/// meanwhile. A notification wakes the task that has waited longest. A task is never woken without one, but the
/// condition that it waits for may be false again when it has the mutex back, so pass a condition to wait().
///
/// Tasks that wait when their run ends are destroyed, and the variable, if it still exists, forgets them.
///
///     runq::mutex m;
///     runq::condition_variable changed;
///     std::vector<int> queue;  // under m
///     auto held = co_await m.scoped_lock();
///     co_await changed.wait(held, [&] { return !queue.empty(); });
class condition_variable {
  class awaiter;

 public:
  condition_variable() = default;
  condition_variable(const condition_variable&) = delete;
  condition_variable& operator=(const condition_variable&) = delete;

  /// `co_await v.wait(held)` unlocks the mutex of `held`, waits for a notification, and locks the mutex again. A stop
  /// request ends the wait: runq::cancelled is thrown when the mutex is locked again. `held` must live until then.
  /// Throws runq::misuse when `held` was moved from. Tasks only.
  [[nodiscard]] stoppable_task<> wait(mutex::guard& held, std::stop_token stop = {},
                                      source_place at = source_place::here());
  /// Waits until `condition()` is true, which is called with the mutex locked. If it is true at once, or after a stop
  /// request has ended the wait, nothing is thrown.
  template <class Condition>
      [[nodiscard]] stoppable_task<> wait(
          mutex::guard& held, Condition&& condition, std::stop_token stop = {},
          source_place at = source_place::here()) requires std::predicate < std::decay_t<Condition>
  & > {
    static_assert(detail::no_function_destroyed_twice<Condition>());
    return wait_until<std::decay_t<Condition>>(held, std::forward<Condition>(condition), std::move(stop), at);
  }

  /// Wakes the task that has waited longest. The caller may hold the mutex, or have unlocked it. Any thread.
  void notify_one() { core_.notify_one(); }
  /// Wakes all tasks that wait. Any thread.
  void notify_all() { core_.notify_all(); }

 private:
  template <class Condition>
  [[nodiscard]] stoppable_task<> wait_until(mutex::guard& held, Condition condition, std::stop_token stop,
                                            source_place at) {
    bool asked_to_stop = false;
    while (!std::invoke(condition)) {
      if (asked_to_stop) throw cancelled();
      try {
        co_await wait(held, stop, at);
      } catch (const cancelled&) {
        asked_to_stop = true;
      }
    }
  }
  detail::condition_core<> core_;
};

class [[nodiscard]] condition_variable::awaiter {
 public:
  awaiter(detail::condition_core<>& core, mutex& held, std::stop_token stop) noexcept
      : core_(core), held_(held.core_), stop_(std::move(stop)) {}
  awaiter(const awaiter&) = delete;
  awaiter& operator=(const awaiter&) = delete;
  ~awaiter() {
    if (waiter_.who.get() == nullptr) return;
    stop_wait_.end();
    if (waiter_.waits()) core_.leave(waiter_);
  }
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  [[nodiscard]] bool await_suspend(std::coroutine_handle<> self, source_place at) {
    detail::strand& s = detail::fall_asleep(self, wait_reason::cond_wait, at);
    waiter_.who.set(&s);
    stop_wait_.begin(*s.home, stop_, {core_, waiter_});
    // by chance: a request comes between two questions.
    return core_.wait(waiter_, held_) || detail::preempt_or_go_on(s);
  }
  /// Returns true if the task was notified, and false if a stop request ended the wait.
  [[nodiscard]] bool await_resume() noexcept {
    stop_wait_.end();
    waiter_.who.set(nullptr);
    return waiter_.ok.get();
  }

 private:
  detail::condition_core<>& core_;
  detail::mutex_core<>& held_;
  std::stop_token stop_;
  detail::revocable_waiter<detail::task_waiting> waiter_;
  detail::stoppable_wait<
      detail::withdraw_and_wake<detail::condition_core<>, detail::revocable_waiter<detail::task_waiting>>>
      stop_wait_;
};

inline stoppable_task<> condition_variable::wait(mutex::guard& held, std::stop_token stop, source_place at) {
  if (!held.end_.has_mutex()) {
    detail::throw_misuse("runq: condition_variable::wait() was given a guard that was moved from");
  }
  if (stop.stop_requested()) throw cancelled();
  // If the task is destroyed while it waits, the guard has nothing to unlock.
  mutex& m = *held.let_go();
  const bool notified = co_await detail::placed(awaiter(core_, m, std::move(stop)), at);
  co_await detail::placed(m.lock(), at);
  held.hold(m);
  if (!notified) throw cancelled();
}

}  // namespace runq
