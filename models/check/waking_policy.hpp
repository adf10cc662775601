// SPDX-License-Identifier: MIT
// For models of channels, mutexes and the like, in which tasks wait. Stands in for production's task_waiting
// (runq/protocol/waiting.hpp). The waker runs the task at once, on the waker's thread; the thread on which the task
// fell asleep may still be inside the call that put the task to sleep.
#pragma once

#include <new>
#include <utility>

#include "atomics.hpp"
#include "waiting.hpp"

namespace runq::model {

/// A task that may wait: what it does when it has been woken.
class sleeping_task {
 public:
  virtual void resume() = 0;

 protected:
  ~sleeping_task() = default;

 private:
  friend struct waking_policy;
  cell<bool> there_{true};  // a waker reads it: waking a task whose frame is gone is an error
};

struct waking_policy {
  using atomics = model::atomics;
  using sleeper = sleeping_task*;
  static void wake(sleeper t) {
    if (t->there_.get()) t->resume();
  }
  // A task runs within the call that wakes it, so no thread ever sees one that was woken and does not run yet.
  [[nodiscard]] static bool asleep(sleeper) { return false; }
  template <class Condition>
  static void spin_until(Condition&& condition) {
    await(condition);
  }
};

/// A task's frame: memory whose use after destroy_frame() is an error.
template <class Frame, class... Arguments>
[[nodiscard]] Frame& make_frame(Arguments&&... arguments) {
  return *::new (atomics::allocate(sizeof(Frame))) Frame(std::forward<Arguments>(arguments)...);
}
template <class Frame>
void destroy_frame(Frame& frame) {
  frame.~Frame();
  atomics::deallocate(&frame);
}

}  // namespace runq::model
