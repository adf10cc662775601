// SPDX-License-Identifier: MIT
// Tasks that wait, for the models of channels, mutexes and the like: what task_waiting (runq/protocol/waiting.hpp) is
// in production. Who wakes a task runs it on the spot: so it runs on another thread than the one on which it fell
// asleep, possibly while that one still is on its way out of the call that put it to sleep.
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
  cell<bool> there_{true};  // read by who wakes the task: so it shows if the frame is gone
};

struct waking_policy {
  using atomics = model::atomics;
  using sleeper = sleeping_task*;
  static void wake(sleeper t) {
    if (t->there_.get()) t->resume();
  }
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
