// SPDX-License-Identifier: MIT
// A task that waits for a group leaves: its run has ended, or its wait is withdrawn.
#include "ending_policy.hpp"
#include "group_model.hpp"
#include "scenario.hpp"
#include "waking_policy.hpp"

namespace runq::model {
namespace {

// A task is destroyed where it waits for a group, because its run has ended, while others wait or are done.

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

// A task that waits for a group has its wait withdrawn, as by a stop request, while others are done.

using group_type = runq::detail::wait_group_core<waking_policy>;

// A task that waits, and whose wait may be withdrawn, as wait_group::stoppable_awaiter does.
class revocable final : public sleeping_task {
 public:
  explicit revocable(group_type& on) : on_(on) { node_.who.set(this); }
  void start() {
    // If this returns true, the task may already have gone on, on another thread.
    if (!on_.enlist(node_)) resume();
  }
  void call_back() {
    if (on_.withdraw(node_)) waking_policy::wake(this);
  }
  void resume() override {
    ++went_on;
    by_request = !node_.ok.get();
  }
  int went_on = 0;
  bool by_request = false;

 private:
  group_type& on_;
  runq::detail::revocable_waiter<waking_policy> node_;
};

// The count stays 1. A task begins to wait ‖ its wait is withdrawn.
struct withdraw_vs_wait final : scenario {
  withdraw_vs_wait() { add(group, 1); }
  void thread(unsigned index) override { index == 0 ? task.start() : task.call_back(); }
  void finish() override {
    require(task.went_on == 1, "a task whose wait was withdrawn does not go on, or not once");
    require(task.by_request, "a task has waited for a group whose count was never 0");
    add(group, -1);
    require(task.went_on == 1, "a task that has gone on is woken");
  }
  group_type group;
  revocable task{group};
};

// Two tasks wait. The last one that they wait for is done ‖ the wait of the first is withdrawn.
struct withdraw_vs_done final : scenario {
  withdraw_vs_done() {
    add(group, 1);
    first.start();
    second.start();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      done.set(1);
      add(group, -1);
    } else {
      first.call_back();
    }
  }
  void finish() override {
    require(first.went_on == 1 && second.went_on == 1, "a task waits for ever, or goes on twice");
    require(!second.by_request, "a task whose wait was not withdrawn is told that its wait was withdrawn");
    require(done.get() == 1, "a task that has waited does not see what was done");
  }
  group_type group;
  revocable first{group};
  revocable second{group};
  cell<int> done{0};
};

// A task begins to wait ‖ the last one that it waits for is done ‖ its wait is withdrawn.
struct withdraw_vs_wait_and_done final : scenario {
  withdraw_vs_wait_and_done() { add(group, 1); }
  void thread(unsigned index) override {
    if (index == 0) {
      task.start();
    } else if (index == 1) {
      add(group, -1);
    } else {
      task.call_back();
    }
  }
  void finish() override {
    require(task.went_on == 1, "a task waits for ever, or goes on twice");
    require(group.done(), "the group is not done");
  }
  group_type group;
  revocable task{group};
};

// The count is 0 before the task begins to wait ‖ its wait is withdrawn.
struct withdraw_vs_nothing final : scenario {
  void thread(unsigned index) override { index == 0 ? task.start() : task.call_back(); }
  void finish() override { require(task.went_on == 1 && !task.by_request, "a task does not see that the count is 0"); }
  group_type group;
  revocable task{group};
};

// As withdraw_vs_done, but the task whose wait was withdrawn ends before it goes on.
struct withdrawn_ends final : scenario {
  using ending_group = runq::detail::wait_group_core<ending_policy>;

  withdrawn_ends() {
    add(group, 1);
    node.who.set(&task);
    require(group.enlist(node), "the count is 0");
  }
  void thread(unsigned index) override {
    if (index == 0) {
      add(group, -1);
    } else {
      if (group.withdraw(node)) ending_policy::wake(&task);
      if (node.waits()) group.leave(node);
    }
  }
  void finish() override { require(task.woken(), "no thread has woken the task"); }

  ending_group group;
  strand task;
  runq::detail::revocable_waiter<ending_policy> node;
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
    add_case<withdraw_vs_wait>({
        .name = "wait_group/withdraw_vs_wait",
        .property = "a task whose wait is withdrawn while it begins does not wait",
        .threads = 2,
    }),
    add_case<withdraw_vs_done>({
        .name = "wait_group/withdraw_vs_done",
        .property = "a task whose wait is withdrawn while the count becomes 0 goes on once, and so do the others",
        .threads = 2,
    }),
    add_case<withdraw_vs_wait_and_done>({
        .name = "wait_group/withdraw_vs_wait_and_done",
        .property = "a task begins to wait while its wait is withdrawn and the count becomes 0: it goes on, once",
        .threads = 3,
        .kept_for = "the task only begins to wait",
    }),
    add_case<withdraw_vs_nothing>({
        .name = "wait_group/withdraw_vs_nothing",
        .property = "a task that finds the count at 0 goes on as usual, although its wait is withdrawn",
        .threads = 2,
    }),
    add_case<withdrawn_ends>({
        .name = "wait_group/withdrawn_ends",
        .property = "a task whose wait is withdrawn, and that ends before it goes on, has left the list: request and "
                    "end ‖ done",
        .threads = 2,
        .kept_for = "the task ends before it goes on",
    }),
};

}  // namespace
}  // namespace runq::model
