// SPDX-License-Identifier: MIT
// For models in which each task has a thread of its own, so that a scenario reads as the task's coroutine does. A task
// that was woken goes on at any later moment, also after its waker has done more.
#pragma once

#include "atomics.hpp"
#include "waiting.hpp"

namespace runq::model {

/// A task that was woken goes on. The token stands for the queue that hands the task on in production.
struct thread_policy {
  using atomics = model::atomics;
  using sleeper = parker*;
  static void wake(sleeper task) { task->unpark(); }
  [[nodiscard]] static bool asleep(sleeper task) { return !task->has_token(); }
  template <class Condition>
  static void spin_until(Condition&& condition) {
    await(condition);
  }
};

/// One wait of a task. `Waiter` is one of runq/protocol/waiting.hpp, or derived from one, over thread_policy.
template <class Waiter>
struct one_wait {
  one_wait() { node.who.set(&task); }
  /// Waits until another thread has woken the task. Called by the task's thread.
  void until_woken() { task.park(); }
  parker task;
  Waiter node;
};

/// As `co_await m.lock()` does. Called by the task's thread.
template <class Mutex, class Waiter>
void lock(Mutex& m, one_wait<Waiter>& turn) {
  if (!m.lock_or_wait(turn.node)) turn.until_woken();
  m.arrived();
}

template <class Mutex>
void unlock(Mutex& m) {
  require(m.unlock(), "a held mutex is free");
}

}  // namespace runq::model
