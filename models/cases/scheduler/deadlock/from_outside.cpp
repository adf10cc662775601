// SPDX-License-Identifier: MIT
// The last machine goes idle while the kernel, or a stop request, wakes the task. The thread that does this has no
// handle: it polls, or only has a stop source.
#include "deadlock_model.hpp"

namespace runq::model {
namespace {

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

const bool added[] = {
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
};

}  // namespace
}  // namespace runq::model
