// SPDX-License-Identifier: MIT
// waiting: a task's place in a queue of waiters, for channels, mutexes and whatever else lets tasks wait.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <mutex>

#include "runq/atomics.hpp"
#include "runq/detail/core.hpp"
#include "runq/protocol/suspension.hpp"

namespace runq::detail {

/// How tasks wait in production. A model puts its own threads in their place; the rest of the code is the same.
struct task_waiting {
  using atomics = policy;
  using sleeper = goroutine*;
  static void wake(sleeper g) { ready(*g); }
  /// False: it has been woken, and who did that touches nothing of its frame any more.
  [[nodiscard]] static bool asleep(sleeper g) noexcept { return g->asleep(); }
  /// For moments only: the caller keeps its thread.
  template <class Condition>
  static void spin_until(Condition&& condition) {
    while (!condition()) atomics::pause();
  }
};

/// One waiting task, in its own frame; linked into at most one list, under that list's lock. Whoever takes it out of
/// the list and wins it (see wins()) may write to it until he wakes the task.
///
/// A task may also be destroyed where it waits, because its run ends. Then it leaves the list itself (see leave()), and
/// finds out first whether the list is still there: `who` tells.
template <class Policy>
struct waiter {
  using atomics = typename Policy::atomics;
  template <class T>
  using cell = typename atomics::template cell<T>;

  cell<waiter*> next{nullptr};
  cell<waiter*> previous{nullptr};
  cell<void*> value{nullptr};
  // Null as long as there is nothing to leave: the task has not waited, or went on, or the list is gone.
  cell<typename Policy::sleeper> who{nullptr};
  cell<suspension<atomics>*> claim{nullptr};  // null: can be woken from this list only
  cell<std::uint32_t> arm{0};
  cell<bool> linked{false};
  cell<bool> ok{false};         // what became of it: the waker's answer
  passed_over<atomics> passed;  // somebody has taken it out who did not win it

  /// Whether the caller is the one to wake this task, having taken it out of its list; must_wake says by which means.
  [[nodiscard]] bool wins(bool& must_wake) {
    suspension<atomics>* const shared = claim.get();
    if (shared == nullptr) {
      must_wake = true;
      return true;
    }
    const claim_result result = shared->claim(arm.get());
    must_wake = result == claim_result::must_wake;
    if (result != claim_result::lost) return true;
    passed.set();
    return false;
  }

  /// Whether the task waits and is in a list, or is about to be woken by somebody who has just taken it out. The task
  /// itself, or who destroys it.
  [[nodiscard]] bool waits() const { return who.get() != nullptr && Policy::asleep(who.get()); }

  /// Whether the task still has to leave a list, when it was woken from another one. As waits().
  [[nodiscard]] bool left_behind() const { return who.get() != nullptr && !passed.get(); }

  /// Who destroys the task: waits for the one who has taken it out of its list and is about to wake it.
  static void await_waker(typename Policy::sleeper task) {
    Policy::spin_until([task] { return !Policy::asleep(task); });
  }
};

/// A waiter whose wait another thread may end by withdraw(), as a stop request does.
template <class Policy>
struct revocable_waiter : waiter<Policy> {
  typename Policy::atomics::template cell<bool> withdrawn{false};  // under the list's lock
};

/// First come, first served. Under the lock of whatever it belongs to.
template <class Policy>
class wait_list {
  using node = waiter<Policy>;
  template <class T>
  using cell = typename Policy::atomics::template cell<T>;

 public:
  [[nodiscard]] bool empty() const { return first_.get() == nullptr; }
  [[nodiscard]] node* front() const { return first_.get(); }

  void push_back(node& w) {
    node* const last = last_.get();
    w.previous.set(last);
    w.next.set(nullptr);
    w.linked.set(true);
    if (last == nullptr) {
      first_.set(&w);
    } else {
      last->next.set(&w);
    }
    last_.set(&w);
  }

  [[nodiscard]] node* pop_front() {
    node* const w = first_.get();
    if (w != nullptr) remove(*w);
    return w;
  }

  /// Takes `w` out if it is in.
  void remove(node& w) {
    if (!w.linked.get()) return;
    node* const previous = w.previous.get();
    node* const next = w.next.get();
    if (previous == nullptr) {
      first_.set(next);
    } else {
      previous->next.set(next);
    }
    if (next == nullptr) {
      last_.set(previous);
    } else {
      next->previous.set(previous);
    }
    w.linked.set(false);
  }

  /// The list ends before those who wait in it: they have nothing to leave any more.
  void forget_all() {
    while (node* const w = pop_front()) w->who.set(nullptr);
  }

 private:
  cell<node*> first_{nullptr};
  cell<node*> last_{nullptr};
};

/// The task of `w`, which has waited in `list`, under `lock`, is being destroyed: takes it out and returns true; or
/// false if somebody else has taken it out, who is through with it then.
template <class Policy, class Lock>
[[nodiscard]] bool leave(wait_list<Policy>& list, waiter<Policy>& w, Lock& lock) {
  {
    const std::lock_guard guard(lock);
    if (w.linked.get()) {
      list.remove(w);
      return true;
    }
  }
  w.await_waker(w.who.get());
  return false;
}

/// The tasks that an operation has won, to be woken when its lock is free again: a woken task's waiter is gone at once.
template <class Policy>
class wake_list {
 public:
  void add(waiter<Policy>& w, bool must_wake) {
    if (!must_wake) return;
    w.next.set(nullptr);
    if (last_ == nullptr) {
      first_ = &w;
    } else {
      last_->next.set(&w);
    }
    last_ = &w;
  }
  void wake_all() {
    while (first_ != nullptr) {
      waiter<Policy>* const next = first_->next.get();
      const auto who = first_->who.get();
      first_ = next;
      Policy::wake(who);
    }
    last_ = nullptr;
  }

 private:
  waiter<Policy>* first_ = nullptr;
  waiter<Policy>* last_ = nullptr;
};

}  // namespace runq::detail
