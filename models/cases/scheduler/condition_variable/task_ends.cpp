// SPDX-License-Identifier: MIT
// A task is destroyed where it waits for a change, because its run has ended, while others are notified.
#include "ending_policy.hpp"
#include "runq/condition_variable.hpp"
#include "scenario.hpp"
#include "waking_policy.hpp"

namespace runq::model {
namespace {

using ending_condition = runq::detail::condition_core<ending_policy>;
using ending_mutex = runq::detail::mutex_core<ending_policy>;

// The frame of a task that waits, as the awaiter does.
struct waiting_task {
  waiting_task(ending_condition& on, strand& task) : on_(on) {
    ending_mutex held;
    require(held.try_lock(), "a new mutex is not free");
    node_.who.set(&task);
    require(on.wait(node_, held), "a task whose wait was not withdrawn does not wait");
  }
  void end() {
    if (node_.waits()) on_.leave(node_);
    destroy_frame(*this);
  }

 private:
  ending_condition& on_;
  runq::detail::revocable_waiter<ending_policy> node_;
};

// Two tasks wait. The first of them ends ‖ all are notified.
struct ends_vs_notify final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      first.end();
    } else {
      changed.notify_all();
    }
  }
  void finish() override {
    require(tasks[1].woken(), "a task that waits was not notified");
    second.end();
  }

  ending_condition changed;
  strand tasks[2];
  waiting_task& first = make_frame<waiting_task>(changed, tasks[0]);
  waiting_task& second = make_frame<waiting_task>(changed, tasks[1]);
};

// Two tasks wait. The first is notified ‖ then the condition variable is destroyed, and then both tasks.
struct destroyed_before_waiters final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      changed->notify_one();
      done.store(1, std::memory_order::relaxed);
      left.store(1, std::memory_order::release);
      return;
    }
    await([this] { return done.load(std::memory_order::relaxed) != 0; });
    destroy_frame(*changed);
    await([this] { return left.load(std::memory_order::acquire) != 0; });
    first.end();
    second.end();
  }
  void finish() override {
    require(tasks[0].woken() && !tasks[1].woken(), "the task that has waited longest was not notified");
  }

  ending_condition* changed = &make_frame<ending_condition>();
  strand tasks[2];
  waiting_task& first = make_frame<waiting_task>(*changed, tasks[0]);
  waiting_task& second = make_frame<waiting_task>(*changed, tasks[1]);
  atomic<int> done{0};  // relaxed: it orders nothing
  atomic<int> left{0};  // as in a scheduler, where all machines leave before tasks are destroyed
};

const bool added[] = {
    add_case<ends_vs_notify>({
        .name = "condition_variable/ends_vs_notify",
        .property =
            "of two waiting tasks one ends: it has left the list or was notified, or the other one was: end ‖ notify",
        .threads = 2,
    }),
    add_case<destroyed_before_waiters>({
        .name = "condition_variable/destroyed_before_waiters",
        .property = "a condition variable is destroyed before the tasks that wait or were notified end",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model
