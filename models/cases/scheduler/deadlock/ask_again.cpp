// SPDX-License-Identifier: MIT
// The last machine goes idle while the last timer or handle that could still have made a task runnable goes away. If a
// task is queued there is no deadlock; if none is, the deadlock is reported in either order.
#include "deadlock_model.hpp"

namespace runq::model {
namespace {

// Machine: gives up the last processor ‖ the monitor, or the machine in the poller: fires the last timer.
template <bool Wakes>
struct timer_vs_rest final : deadlock_model {
  timer_vs_rest() { timer.store(1, std::memory_order::relaxed); }
  void thread(unsigned index) override {
    if (index == 0) {
      rest();
    } else {
      fire(Wakes);
      question.timers_fired();
    }
  }
  void finish() override {
    if (Wakes) {
      require(reported.get() == 0, "a deadlock is reported beside a task that a timer has made runnable");
    } else {
      require(reported.get() != 0, "no thread has reported the deadlock after the last timer");
    }
  }
};

// Machine: gives up the last processor ‖ a thread outside with a handle: wakes the task, or not, and drops the handle.
template <bool Wakes>
struct handle_vs_rest final : deadlock_model {
  handle_vs_rest() { question.attach(); }
  void thread(unsigned index) override {
    if (index == 0) {
      rest();
    } else {
      if (Wakes) wake();
      question.detach();
    }
  }
  void finish() override {
    if (Wakes) {
      require(reported.get() == 0, "a deadlock is reported beside a task that was made runnable from outside");
    } else {
      require(reported.get() != 0, "no thread has reported the deadlock after the last handle");
    }
  }
};

// Machine: gives up the last processor ‖ a thread outside, which has given another one a handle: wakes the task and
// drops its own ‖ the other thread: drops its handle.
struct two_handles final : deadlock_model {
  two_handles() {
    question.attach();
    question.attach();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      rest();
    } else {
      if (index == 1) wake();
      question.detach();
    }
  }
  void finish() override {
    require(reported.get() == 0, "a deadlock is reported beside a task that was made runnable from outside");
  }
};

// The last timer fires ‖ the last handle is given up. The machine is idle already.
struct timer_vs_handle final : deadlock_model {
  timer_vs_handle() {
    timer.store(1, std::memory_order::relaxed);
    question.attach();
    rest();
    require(reported.get() == 0, "a deadlock is reported beside a timer and a handle");
  }
  void thread(unsigned index) override {
    if (index == 0) {
      fire(false);
      question.timers_fired();
    } else {
      question.detach();
    }
  }
  void finish() override { require(reported.get() != 0, "no thread has reported the deadlock"); }
};

const bool added[] = {
    add_case<timer_vs_rest<false>>({
        .name = "deadlock/timer_wakes_nobody",
        .property = "a deadlock is reported although the last timer fires while the last machine goes idle",
        .threads = 2,
        .kept_for = "a machine goes idle meanwhile",
    }),
    add_case<timer_vs_rest<true>>({
        .name = "deadlock/timer_wakes_a_task",
        .property = "no deadlock is reported while there is a task that a timer has just made runnable",
        .threads = 2,
    }),
    add_case<handle_vs_rest<false>>({
        .name = "deadlock/handle_wakes_nobody",
        .property = "a deadlock is reported although the last handle is given up while the last machine goes idle",
        .threads = 2,
        .kept_for = "a machine goes idle meanwhile",
    }),
    add_case<handle_vs_rest<true>>({
        .name = "deadlock/handle_wakes_a_task",
        .property = "no deadlock is reported if a thread outside made a task runnable before it gave its handle up",
        .threads = 2,
        .kept_for = "the smaller program",
    }),
    add_case<two_handles>({
        .name = "deadlock/two_handles",
        .property =
            "no deadlock is reported if one of two threads outside made a task runnable before it gave its handle up",
        .threads = 3,
        .kept_for = "two threads outside meet",
    }),
    add_case<timer_vs_handle>({
        .name = "deadlock/timer_and_handle",
        .property = "the last timer fires while the last handle is given up: one of them reports the deadlock",
        .threads = 2,
        .kept_for = "timer and handle meet",
    }),
};

}  // namespace
}  // namespace runq::model
