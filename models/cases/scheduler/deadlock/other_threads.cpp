// SPDX-License-Identifier: MIT
// All tasks wait, and the thread that waits for the end of the run finds out whether they wait for ever: a thread that
// the scheduler did not start, and that has no handle, may wake one.
#include "deadlock_model.hpp"

namespace runq::model {
namespace {

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
