// SPDX-License-Identifier: MIT
// A thread outside gets a handle, starts a task, and gives the handle up, while the last machine asks whether the tasks
// that are left wait for ever.
#include "runq/protocol/deadlock.hpp"
#include "scenario.hpp"

namespace runq::model {
namespace {

// Machine: its task ends, and it gives up the last processor ‖ a thread outside: starts a task
// by a handle.
class outside_vs_question final : public scenario {
 public:
  // -- what deadlock_question asks of its host --

  void ask_if_idle() {
    const std::lock_guard guard(lock);
    if (held.get() == 0) check_deadlock();
  }
  [[nodiscard]] bool calls_in_progress() const { return false; }
  [[nodiscard]] bool timers_pending() const { return false; }
  [[nodiscard]] bool anything_queued() const { return queued.load(std::memory_order::relaxed) != 0; }
  [[nodiscard]] bool stop_possible() const { return false; }
  template <class F>
  void for_each_kernel_wait(F&&) const {}

  outside_vs_question() { tally.start(); }
  void thread(unsigned index) override {
    if (index == 0) {
      tally.end();
      const std::lock_guard guard(lock);
      held.set(0);
      check_deadlock();
    } else {
      question.attach();
      tasks.start_outside();
      queued.store(1, std::memory_order::relaxed);
      question.detach();
    }
  }
  void finish() override { require(reported.get() == 0, "a deadlock is reported beside a task that is being started"); }

 private:
  void check_deadlock() {
    if (tasks.count([this](auto&& f) { f(tally); }) == 0) return;
    if (question.all_wait()) reported.set(reported.get() + 1);
  }

  deadlock_question<outside_vs_question, atomics> question{*this};
  live_tasks<atomics> tasks;
  task_tally<atomics> tally;
  mutex lock;
  cell<int> held{1};      // under the lock: processors in the hands of machines
  cell<int> reported{0};  // under the lock: deadlocks that were reported
  atomic<int> queued{0};  // 1: the task is in the global queue
};

const bool added[] = {
    add_case<outside_vs_question>({
        .name = "live_tasks/outside_vs_question",
        .property = "no deadlock is reported while a thread outside gets a handle and starts a task",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model
