// SPDX-License-Identifier: MIT
// mutex: mutual exclusion between tasks: while a task waits, its thread runs others.
//
// Source: the hand-off of a first come, first served semaphore, as in Go's sync.Mutex in starvation mode. Models:
// models/cases/scheduler/mutex/.
#pragma once

#include <atomic>
#include <coroutine>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "runq/protocol/waiting.hpp"
#include "runq/task.hpp"

namespace runq {

class condition_variable;

namespace detail {

/// A flag and the tasks that wait for it. unlock() hands the mutex to the first of them, so no task can overtake
/// another.
template <class Policy = task_waiting>
class mutex_core {
  using atomics = typename Policy::atomics;
  using node = waiter<Policy>;

 public:
  mutex_core() = default;
  mutex_core(const mutex_core&) = delete;
  mutex_core& operator=(const mutex_core&) = delete;
  ~mutex_core() {
    // The lock orders this after what tasks on other machines did when they began to wait.
    const std::lock_guard guard(guard_);
    waiters_.forget_all();
    if (node* const next = handed_to_.get()) next->forget();
  }

  /// Takes the mutex and returns true, or returns false when it is locked.
  [[nodiscard]] bool try_lock() {
    const std::lock_guard guard(guard_);
    if (held_.get()) return false;
    held_.set(true);
    return true;
  }
  /// Takes the mutex and returns true; or puts `w` among the waiters and returns false: then another machine may run
  /// the task at any moment, and the task has the mutex. In both cases the task calls arrived() when it goes on.
  [[nodiscard]] bool lock_or_wait(node& w) {
    const std::lock_guard guard(guard_);
    return take_or_enlist(w);
  }
  /// Like the function above, for a waiter that may be withdrawn; if it was withdrawn already, it does not wait. When
  /// the task goes on, w.ok says whether it has the mutex.
  [[nodiscard]] bool lock_or_wait(revocable_waiter<Policy>& w) {
    const std::lock_guard guard(guard_);
    if (held_.get() && w.withdrawn.get()) return true;
    return take_or_enlist(w);
  }
  /// Ends the wait of the task of `w`, or keeps it from waiting. True: the task was waiting, goes on without the mutex,
  /// and the caller must wake it. False: the task goes on, or is about to, without the caller.
  [[nodiscard]] bool withdraw(revocable_waiter<Policy>& w) {
    const std::lock_guard guard(guard_);
    w.withdrawn.set(true);
    if (!w.linked.get()) return false;
    waiters_.remove(w);
    return true;
  }
  /// Unlocks; false if the mutex was not locked.
  [[nodiscard]] bool unlock() {
    wake_list<Policy> woken;
    {
      const std::lock_guard guard(guard_);
      if (!held_.get()) return false;
      node* const next = waiters_.pop_front();
      handed_to_.set(next);
      if (next != nullptr) {
        next->ok.set(true);
        woken.add(*next, true);
      } else {
        held_.set(false);
      }
    }
    woken.wake_all();
    return true;
  }
  /// To be called by a task after lock_or_wait(), when it goes on with the mutex.
  void arrived() { handed_to_.set(nullptr); }
  /// To be called when the task of `w`, which has not gone on since it began to wait, is destroyed. If the mutex was
  /// handed to it, the next waiter gets it.
  void leave(node& w) {
    if (!detail::leave(waiters_, w, guard_) && w.ok.get()) (void)unlock();
  }

 private:
  // With guard_ held.
  [[nodiscard]] bool take_or_enlist(node& w) {
    if (held_.get()) {
      waiters_.push_back(w);
      return false;
    }
    held_.set(true);
    handed_to_.set(&w);
    w.ok.set(true);
    return true;
  }

  template <class T>
  using cell = typename atomics::template cell<T>;

  typename atomics::mutex guard_;
  cell<bool> held_{false};          // under guard_
  wait_list<Policy> waiters_;       // under guard_
  cell<node*> handed_to_{nullptr};  // the task that has the mutex and has not gone on yet; written by the holder
};

/// Ties a mutex to the guard that has it, so that each of them learns when the other one ends. The mutex is derived
/// from it; the guard holds a `holder`.
template <class Policy = task_waiting>
class guard_tie {
  template <class T>
  using cell = typename Policy::atomics::template cell<T>;

 public:
  /// The guard's end of the tie. Only the task that has the guard calls it.
  class holder {
   public:
    holder() = default;
    holder(const holder&) = delete;
    holder& operator=(const holder&) = delete;

    /// To be called by the task that has just got the mutex.
    void hold(guard_tie& of) noexcept {
      tie_.set(&of);
      // [mutex.guard.hold] release: pairs with [mutex.guard.look]; weaker: ends() writes to a holder while its
      // task still does.
      of.holder_.store(this, std::memory_order::release);
    }
    /// Returns the tie of the mutex, which stays locked; null if this holder has none.
    guard_tie* let_go() noexcept {
      guard_tie* const had = tie_.get();
      if (had == nullptr) return nullptr;
      // [mutex.guard.let_go] relaxed: the unlock that follows orders this before the next holder's hold().
      had->holder_.store(nullptr, std::memory_order::relaxed);
      tie_.set(nullptr);
      return had;
    }
    /// Takes over what `other` has, which has nothing then.
    void take_over(holder& other) noexcept {
      lost_.set(other.lost_.get());
      other.lost_.set(false);
      if (guard_tie* const taken = other.let_go(); taken != nullptr) hold(*taken);
    }
    [[nodiscard]] bool has_mutex() const noexcept { return tie_.get() != nullptr; }
    /// Whether the mutex was destroyed while this holder had it.
    [[nodiscard]] bool lost() const noexcept { return lost_.get(); }

   private:
    friend guard_tie;
    cell<guard_tie*> tie_{nullptr};
    cell<bool> lost_{false};
  };

  guard_tie() = default;
  guard_tie(const guard_tie&) = delete;
  guard_tie& operator=(const guard_tie&) = delete;
  ~guard_tie() { ends(); }
  /// Tells the guard that has the mutex, if one has it, that there is nothing to unlock any more.
  void ends() noexcept {
    // [mutex.guard.look] acquire: pairs with [mutex.guard.hold].
    holder* const left = holder_.load(std::memory_order::acquire);
    if (left == nullptr) return;
    left->tie_.set(nullptr);
    left->lost_.set(true);
  }

 private:
  typename Policy::atomics::template atomic<holder*> holder_{static_cast<holder*>(nullptr)};
};

/// Called by a guard that ends after its mutex: ends the process, unless the guard is destroyed because its run ends.
void guard_outlived_mutex() noexcept;

}  // namespace detail

/// A mutex for tasks, first come, first served. A task may hold it across co_awaits, and go on holding it on another
/// thread.
///
/// Tasks that wait for it when their run ends are destroyed, and the mutex, if it still exists, forgets them. A task
/// that is destroyed while it has the mutex unlocks it by its guard (scoped_lock()); after a plain lock() the mutex
/// stays locked, as a std::mutex does when its thread ends.
///
/// A mutex must outlive its guard. A guard that ends after its mutex ends the process with a message; but a guard that
/// is destroyed because its run ends unlocks nothing then, so main may return beside tasks that have main's mutex.
///
///     runq::mutex m;
///     co_await m.lock();
///     ++shared;
///     m.unlock();
class mutex : detail::guard_tie<> {
  class awaiter;
  class guard_awaiter;
  class stoppable_awaiter;
  class stoppable_guard_awaiter;

 public:
  /// Unlocks at its end.
  class [[nodiscard]] guard {
   public:
    guard(guard&& other) noexcept { end_.take_over(other.end_); }
    guard& operator=(guard&&) = delete;
    ~guard() {
      if (mutex* const locked = let_go(); locked != nullptr) locked->unlock();
      if (end_.lost()) detail::guard_outlived_mutex();
    }

   private:
    friend mutex;
    friend condition_variable;
    explicit guard(mutex& locked) noexcept { hold(locked); }
    void hold(mutex& locked) noexcept { end_.hold(locked); }
    /// Returns the mutex, which stays locked; null if this guard has none.
    mutex* let_go() noexcept { return static_cast<mutex*>(end_.let_go()); }
    holder end_;
  };

  mutex() = default;

  /// `co_await m.lock()` returns when the calling task has the mutex. Tasks only.
  [[nodiscard]] awaiter lock() noexcept;
  /// `auto guard = co_await m.scoped_lock();`
  [[nodiscard]] guard_awaiter scoped_lock() noexcept;
  /// Like lock() and scoped_lock(), but a stop request ends the wait: then the task does not have the mutex, and
  /// runq::cancelled is thrown.
  [[nodiscard]] stoppable_awaiter lock(std::stop_token stop) noexcept;
  [[nodiscard]] stoppable_guard_awaiter scoped_lock(std::stop_token stop) noexcept;
  /// Takes the mutex if it is free, and returns whether it did. Any thread.
  [[nodiscard]] bool try_lock() { return core_.try_lock(); }
  /// Unlocks, or hands the mutex to the first waiting task. May be called by any thread, on behalf of the task that has
  /// the mutex. Throws runq::misuse("sync: unlock of unlocked mutex").
  void unlock() {
    if (!core_.unlock()) detail::throw_misuse("sync: unlock of unlocked mutex");
  }

 private:
  friend condition_variable;
  detail::mutex_core<> core_;
};

class [[nodiscard]] mutex::awaiter {
 public:
  explicit awaiter(mutex& wanted) noexcept : wanted_(wanted) {}
  awaiter(const awaiter&) = delete;
  awaiter& operator=(const awaiter&) = delete;
  ~awaiter() {
    if (waiter_.who.get() != nullptr) wanted_.core_.leave(waiter_);
  }
  [[nodiscard]] bool await_ready() const { return !detail::time_slice_over() && wanted_.try_lock(); }
  [[nodiscard]] bool await_suspend(std::coroutine_handle<> self, source_place at = source_place::here()) {
    detail::strand& s = detail::fall_asleep(self, wait_reason::mutex_lock, at);
    waiter_.who.set(&s);
    return !wanted_.core_.lock_or_wait(waiter_) || detail::preempt_or_go_on(s);
  }
  void await_resume() noexcept {
    if (waiter_.who.get() == nullptr) return;
    waiter_.who.set(nullptr);
    wanted_.core_.arrived();
  }
  /// For with_timeout(): makes the awaiter of the same wait with a token.
  [[nodiscard]] auto stoppable() && noexcept;

 protected:
  mutex& wanted_;

 private:
  detail::waiter<detail::task_waiting> waiter_;
};

class [[nodiscard]] mutex::guard_awaiter : public awaiter {
 public:
  explicit guard_awaiter(mutex& wanted) noexcept : awaiter(wanted) {}
  guard await_resume() noexcept {
    awaiter::await_resume();
    return guard(wanted_);
  }
  [[nodiscard]] auto stoppable() && noexcept;
};

class [[nodiscard]] mutex::stoppable_awaiter {
 public:
  stoppable_awaiter(mutex& wanted, std::stop_token stop) noexcept : wanted_(wanted), stop_(std::move(stop)) {}
  stoppable_awaiter(const stoppable_awaiter&) = delete;
  stoppable_awaiter& operator=(const stoppable_awaiter&) = delete;
  ~stoppable_awaiter() {
    if (waiter_.who.get() == nullptr) return;
    stop_wait_.end();
    wanted_.core_.leave(waiter_);
  }
  [[nodiscard]] bool await_ready() const {
    if (stop_.stop_requested()) throw cancelled();
    return !detail::time_slice_over() && wanted_.try_lock();
  }
  [[nodiscard]] bool await_suspend(std::coroutine_handle<> self, source_place at = source_place::here()) {
    detail::strand& s = detail::fall_asleep(self, wait_reason::mutex_lock, at);
    waiter_.who.set(&s);
    stop_wait_.begin(*s.home, stop_, {wanted_.core_, waiter_});
    // by chance: the time slice ends between two questions.
    return !wanted_.core_.lock_or_wait(waiter_) || detail::preempt_or_go_on(s);
  }
  void await_resume() {
    if (waiter_.who.get() == nullptr) return;
    stop_wait_.end();
    waiter_.who.set(nullptr);
    if (!waiter_.ok.get()) throw cancelled();
    wanted_.core_.arrived();
  }

 protected:
  mutex& wanted_;

 private:
  std::stop_token stop_;
  detail::revocable_waiter<detail::task_waiting> waiter_;
  detail::stoppable_wait<
      detail::withdraw_and_wake<detail::mutex_core<>, detail::revocable_waiter<detail::task_waiting>>>
      stop_wait_;
};

class [[nodiscard]] mutex::stoppable_guard_awaiter : public stoppable_awaiter {
 public:
  using stoppable_awaiter::stoppable_awaiter;
  guard await_resume() {
    stoppable_awaiter::await_resume();
    return guard(wanted_);
  }
};

inline auto mutex::awaiter::stoppable() && noexcept {
  return [&wanted = wanted_](std::stop_token stop) { return wanted.lock(std::move(stop)); };
}
inline auto mutex::guard_awaiter::stoppable() && noexcept {
  return [&wanted = wanted_](std::stop_token stop) { return wanted.scoped_lock(std::move(stop)); };
}

inline mutex::awaiter mutex::lock() noexcept { return awaiter(*this); }
inline mutex::guard_awaiter mutex::scoped_lock() noexcept { return guard_awaiter(*this); }
inline mutex::stoppable_awaiter mutex::lock(std::stop_token stop) noexcept { return {*this, std::move(stop)}; }
inline mutex::stoppable_guard_awaiter mutex::scoped_lock(std::stop_token stop) noexcept {
  return {*this, std::move(stop)};
}

}  // namespace runq
