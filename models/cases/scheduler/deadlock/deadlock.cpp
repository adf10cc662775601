// SPDX-License-Identifier: MIT
// Who finds out that all tasks wait for ever, and who does not, because something may still wake one.
#include "deadlock_model.hpp"

namespace runq::model {
namespace {

// The last machine goes idle while the last timer or handle that could still have made a task runnable goes away. If a
// task is queued there is no deadlock; if none is, the deadlock is reported in either order.

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

// The last machine goes idle while the kernel, or a stop request, wakes the task. The thread that does this has no
// handle: it polls, or only has a stop source.

// Machine: its task begins to wait for a descriptor, and the machine gives up the last processor ‖ a thread that polls:
// wakes the task.
struct kernel_vs_rest : deadlock_model {
  void thread(unsigned index) override {
    if (index == 0) {
      waits_for_kernel[0].start();
      waiting.store(1, std::memory_order::release);
      rest();
    } else {
      await([this] { return waiting.load(std::memory_order::acquire) != 0; });
      wake();
      after_wake();
    }
  }
  virtual void after_wake() {}
  void finish() override {
    require(reported.get() == 0, "a deadlock is reported beside a task that the kernel has made runnable");
  }

 private:
  atomic<int> waiting{0};  // 1: the descriptor has the task
};

// As kernel_vs_rest, and a machine takes another processor and the task, if no machine holds a processor yet. The task
// then waits for ever.
struct kernel_wakes_the_last_task final : kernel_vs_rest {
  void after_wake() override {
    {
      const std::lock_guard guard(lock);
      if (held.get() != 0) return;
      held.set(1);
    }
    queued.store(0, std::memory_order::relaxed);
    waits_for_kernel[1].end();
    ran = true;
    rest();
  }
  void finish() override {
    require(reported.get() == (ran ? 1 : 0), ran ? "no thread has reported the deadlock, or one did too early"
                                                 : "a deadlock is reported beside a task in the global queue");
  }
  bool ran = false;
};

// Machine: its task waits with a stop token, and the machine gives up the last processor ‖ a thread with the source:
// requests the stop, which wakes the task.
struct stop_vs_rest final : deadlock_model {
  stop_vs_rest() { stop.store(1, std::memory_order::relaxed); }
  void thread(unsigned index) override {
    if (index == 0) {
      rest();
    } else {
      wake();
    }
  }
  void finish() override {
    require(reported.get() == 0, "a deadlock is reported while a stop request makes a task runnable");
  }
};

// All tasks wait, and the thread that waits for the end of the run finds out whether they wait for ever: a thread that
// the scheduler did not start, and that has no handle, may wake one.

// There is one other thread, and the machine has suspected a deadlock, at question 1.
struct suspected : deadlock_model {
  suspected() {
    others.store(1, std::memory_order::relaxed);
    rest();
  }

 protected:
  void confirm(std::uint64_t number) { found = question.confirm(number); }
  void ends() { others.fetch_sub(1, std::memory_order::release); }

  suspicion found = suspicion::outdated;  // the last answer of confirm(); of the thread that calls it, and finish()
};

// The thread in run(): confirms ‖ the other thread: wakes the task, or not, and ends.
template <bool Wakes>
struct thread_vs_confirm final : suspected {
  void thread(unsigned index) override {
    if (index == 0) {
      confirm(1);
    } else {
      if (Wakes) wake();
      ends();
    }
  }
  void finish() override {
    if (Wakes) {
      require(found != suspicion::deadlock, "a deadlock is reported beside a task that a thread has made runnable");
    } else {
      require(found != suspicion::outdated, "a suspicion is dropped although no task has run");
      confirm(1);
      require(found == suspicion::deadlock, "the deadlock is still in doubt although the thread has ended");
    }
  }
};

// The thread in run(): confirms ‖ the other thread: wakes the task and ends ‖ a machine: takes a processor and the
// task, which starts a new thread and waits again, now for that one.
struct task_starts_a_thread final : suspected {
  void thread(unsigned index) override {
    if (index == 0) {
      confirm(1);
    } else if (index == 1) {
      wake();
      ends();
    } else {
      await([this] { return queued.load(std::memory_order::relaxed) != 0; });
      {
        const std::lock_guard guard(lock);
        held.set(1);
      }
      queued.store(0, std::memory_order::relaxed);
      others.fetch_add(1, std::memory_order::relaxed);
      rest();
    }
  }
  void finish() override {
    require(found != suspicion::deadlock, "a deadlock is reported although a thread is left that may wake the task");
    confirm(2);
    require(found == suspicion::doubtful, "nothing is in doubt although the task waits for a thread");
  }
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
    add_case<kernel_vs_rest>({
        .name = "deadlock/kernel_wakes_a_task",
        .property = "no deadlock is reported while a task waits for a descriptor, or was just woken by one",
        .threads = 2,
        .kept_for = "another task goes on",
    }),
    add_case<kernel_wakes_the_last_task>({
        .name = "deadlock/kernel_wakes_the_last_task",
        .property = "a deadlock is reported when the last task that waited for the kernel has gone on, and waits again",
        .threads = 2,
    }),
    add_case<stop_vs_rest>({
        .name = "deadlock/stop_wakes_a_task",
        .property = "no deadlock is reported while a task waits with a stop token that has a source",
        .threads = 2,
    }),
    add_case<thread_vs_confirm<true>>({
        .name = "deadlock/thread_wakes_a_task",
        .property = "no deadlock is reported if a thread without a handle made a task runnable before it ended",
        .threads = 2,
        .kept_for = "the thread wakes a task and ends, and starts no other",
    }),
    add_case<thread_vs_confirm<false>>({
        .name = "deadlock/thread_wakes_nobody",
        .property = "a deadlock is in doubt as long as there is a thread without a handle, and reported then",
        .threads = 2,
    }),
    add_case<task_starts_a_thread>({
        .name = "deadlock/task_starts_a_thread",
        .property = "no deadlock is reported if a task has started another thread since all tasks were seen to wait",
        .threads = 3,
    }),
};

}  // namespace
}  // namespace runq::model
