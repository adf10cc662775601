// SPDX-License-Identifier: MIT
// A task is destroyed where it waits for a group, because its run has ended, while others wait or are done.
#include "ending_policy.hpp"
#include "group_model.hpp"
#include "scenario.hpp"
#include "waking_policy.hpp"

namespace runq::model {
namespace {

using ending_group = runq::detail::wait_group_core<ending_policy>;

// The frame of a task that waits, as the awaiter does.
struct waiting_task {
  waiting_task(ending_group& on, strand& task) : on_(on) {
    node_.who.set(&task);
    waits = !on.done() && on.enlist(node_);
  }
  void end() {
    if (waits && node_.waits()) on_.leave(node_);
    destroy_frame(*this);
  }
  bool waits = false;

 private:
  ending_group& on_;
  runq::detail::waiter<ending_policy> node_;
};

// Two tasks wait. The first of them ends ‖ the last task that is waited for is done, so the second goes on.
struct ends_vs_done final : scenario {
  ends_vs_done() {
    add(group, 1);
    first = &make_frame<waiting_task>(group, tasks[0]);
    second = &make_frame<waiting_task>(group, tasks[1]);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      first->end();
    } else {
      add(group, -1);
    }
  }
  void finish() override {
    require(tasks[1].woken(), "a task waits for ever");
    second->end();
  }

  ending_group group;
  strand tasks[2];
  waiting_task* first = nullptr;
  waiting_task* second = nullptr;
};

// A task waits. It ends ‖ another one begins to wait.
struct ends_vs_wait final : scenario {
  ends_vs_wait() {
    add(group, 1);
    first = &make_frame<waiting_task>(group, tasks[0]);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      first->end();
    } else {
      second = &make_frame<waiting_task>(group, tasks[1]);
    }
  }
  void finish() override {
    require(second->waits && !tasks[1].woken(), "a task did not wait");
    add(group, -1);
    require(tasks[1].woken() && !tasks[0].woken(), "a task waits for ever, or a task that has ended was woken");
    second->end();
  }

  ending_group group;
  strand tasks[2];
  waiting_task* first = nullptr;
  waiting_task* second = nullptr;
};

// The only task that waited has ended. The last task that is waited for is done ‖ a thread finds the count at 0, and
// then destroys the group.
struct nobody_waits_any_more final : scenario {
  nobody_waits_any_more() {
    add(*group, 1);
    make_frame<waiting_task>(*group, task).end();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      add(*group, -1);
    } else {
      await([this] { return group->done(); });
      destroy_frame(*group);
    }
  }

  ending_group* group = &make_frame<ending_group>();
  strand task;
};

// A task begins to wait ‖ then the group is destroyed, and then the task.
struct destroyed_before_waiter final : scenario {
  destroyed_before_waiter() { add(*group, 1); }
  void thread(unsigned index) override {
    if (index == 0) {
      waiter = &make_frame<waiting_task>(*group, task);
      through.store(1, std::memory_order::relaxed);
    } else {
      await([this] { return through.load(std::memory_order::relaxed) != 0; });
      destroy_frame(*group);
    }
  }
  void finish() override {
    require(waiter->waits && !task.woken(), "the task did not wait, or was woken");
    waiter->end();
  }

  ending_group* group = &make_frame<ending_group>();
  strand task;
  waiting_task* waiter = nullptr;
  atomic<int> through{0};
};

const bool added[] = {
    add_case<destroyed_before_waiter>({
        .name = "wait_group/destroyed_before_waiter",
        .property = "a wait group that is destroyed forgets the tasks that wait, and they end after it: wait ‖ destroy",
        .threads = 2,
    }),
    add_case<ends_vs_done>({
        .name = "wait_group/ends_vs_done",
        .property = "a task that ends while it waits has left or was woken, and the other waiter is woken: end ‖ done",
        .threads = 2,
        .kept_for = "the wake-up comes meanwhile",
    }),
    add_case<ends_vs_wait>({
        .name = "wait_group/ends_vs_wait",
        .property = "a task that ends while it waits leaves the other waiters in the list: end ‖ wait",
        .threads = 2,
        .mutants = {{"leave_relaxed", "wait_group.leave", std::memory_order::relaxed}},
        .kept_for = "another task begins to wait",
    }),
    add_case<nobody_waits_any_more>({
        .name = "wait_group/nobody_waits_any_more",
        .property = "when all waiters have ended, a thread that finds the count at 0 may destroy the group",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model
