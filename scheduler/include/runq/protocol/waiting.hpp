// SPDX-License-Identifier: MIT
// waiting: a task's place in a list of waiters, for channels, mutexes and all other objects that tasks wait for.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <mutex>

#include "runq/atomics.hpp"
#include "runq/detail/policy.hpp"
#include "runq/detail/strand.hpp"
#include "runq/protocol/suspension.hpp"

namespace runq::detail {

/// How tasks wait in production. A model uses its own threads instead; the rest of the code is the same.
struct task_waiting {
  using atomics = policy;
  using sleeper = strand*;
  static void wake(sleeper s) { ready(*s); }
  /// False: the task was woken, and its waker does not touch its frame any more.
  [[nodiscard]] static bool asleep(sleeper s) noexcept { return s->asleep(); }
  /// Blocks the calling thread until the condition holds, which takes only a moment.
  template <class Condition>
  static void spin_until(Condition&& condition) {
    while (!condition()) atomics::pause();
  }
};

/// One waiting task, in its own frame; linked into at most one list, under that list's lock. The thread that takes it
/// out of the list and wins it (see wins()) may write to it until it wakes the task.
///
/// A task may also be destroyed while it waits, because its run ends. Then the task leaves the list itself (see
/// leave()). First it has to find out whether the list still exists: `who` is null if not.
template <class Policy>
struct waiter {
  using atomics = typename Policy::atomics;
  template <class T>
  using cell = typename atomics::template cell<T>;

  cell<waiter*> next{nullptr};
  cell<waiter*> previous{nullptr};
  // Null as long as there is no list to leave: the task has not waited, or has gone on, or the list was destroyed.
  cell<typename Policy::sleeper> who{nullptr};
  cell<bool> linked{false};
  cell<bool> ok{false};  // the waker's answer to what the task waited for
  const bool competes;   // it is a competing_waiter

  waiter() noexcept : waiter(false) {}

  /// Whether the caller, which has taken this task out of its list, is the thread that must wake it; must_wake says
  /// how.
  [[nodiscard]] bool wins(bool& must_wake) {
    must_wake = true;
    return !competes || claims(must_wake);
  }

  /// Whether the task waits in a list, or a thread has just taken it out and is about to wake it. Called by the task
  /// itself, or by the thread that destroys it.
  [[nodiscard]] bool waits() const { return who.get() != nullptr && Policy::asleep(who.get()); }

  /// Called by the thread that destroys the task: waits for the thread that took it out of its list and is about to
  /// wake it.
  static void await_waker(typename Policy::sleeper task) {
    Policy::spin_until([task] { return !Policy::asleep(task); });
  }

  /// To be called when the object that the task waited for is destroyed, after the waiter was taken out of its list and
  /// before the task goes on. Waits for the thread that is about to wake the task. Then the task has nothing to give
  /// back to the object.
  void forget() {
    await_waker(who.get());
    who.set(nullptr);
  }

 protected:
  explicit waiter(bool has_competitors) noexcept : competes(has_competitors) {}

 private:
  [[nodiscard]] bool claims(bool& must_wake);
};

/// A waiter of a task that has others in other lists, so that it is woken through one of several: as in a select.
template <class Policy>
struct competing_waiter : waiter<Policy> {
  using atomics = typename Policy::atomics;
  template <class T>
  using cell = typename atomics::template cell<T>;

  cell<void*> value{nullptr};                 // what it sends, or the place for what it receives
  cell<suspension<atomics>*> claim{nullptr};  // which all of the task's waiters share
  cell<std::uint32_t> arm{0};                 // what this one claims it for
  passed_over<atomics> passed;                // set by a thread that took it out of the list and did not win it

  competing_waiter() noexcept : waiter<Policy>(true) {}

  /// Whether the task still has to leave a list after it was woken through another one. Called like waits().
  [[nodiscard]] bool left_behind() const { return this->who.get() != nullptr && !passed.get(); }
};

// The part of wins() for a competing_waiter. Not inline: most waiters are none.
template <class Policy>
[[gnu::noinline]] bool waiter<Policy>::claims(bool& must_wake) {
  auto& self = static_cast<competing_waiter<Policy>&>(*this);
  const claim_result result = self.claim.get()->claim(self.arm.get());
  must_wake = result == claim_result::must_wake;
  if (result != claim_result::lost) return true;
  self.passed.set();
  return false;
}

/// A waiter whose wait another thread may end by withdraw(), as a stop request does.
template <class Policy>
struct revocable_waiter : waiter<Policy> {
  typename Policy::atomics::template cell<bool> withdrawn{false};  // under the list's lock
};

/// A list, first come, first served. Protected by the lock of the object that it belongs to.
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

  /// Removes `w` if it is in the list.
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

  /// The list is destroyed before the tasks that wait in it: tells each that there is no list to leave.
  void forget_all() {
    while (node* const w = pop_front()) w->who.set(nullptr);
  }

 private:
  cell<node*> first_{nullptr};
  cell<node*> last_{nullptr};
};

/// Called when the task of `w`, which waited in `list` under `lock`, is destroyed. Removes `w` and returns true; or, if
/// another thread has taken `w` out, waits until that thread does not touch `w` any more, and returns false.
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

/// The tasks that an operation has won, to be woken after it unlocks: once a task is woken, its waiter may not exist
/// any more.
template <class Policy>
class wake_list {
 public:
  void add(waiter<Policy>& w, bool must_wake) {
    // by chance: a task is claimed when it is about to sleep; models/cases/scheduler/select/.
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
