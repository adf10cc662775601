// SPDX-License-Identifier: MIT
// Tasks wait for changes of what a mutex protects, until they are notified or destroyed.
#include "ending_policy.hpp"
#include "runq/condition_variable.hpp"
#include "scenario.hpp"
#include "waking_policy.hpp"

namespace runq::model {
namespace {

// Tasks wait until what a mutex protects has changed, while others change it and notify them.

using mutex_type = runq::detail::mutex_core<waking_policy>;
using condition_type = runq::detail::condition_core<waking_policy>;

/// A number that a mutex protects, and the tasks that wait until it is not 0 and take 1 away.
struct counted {
  mutex_type lock;
  condition_type changed;
  cell<int> value{0};
};

// A task that takes 1 away, as condition_variable::wait() with a condition does.
class taker final : public sleeping_task {
 public:
  explicit taker(counted& place) : place_(place) {}
  void start() { take_lock(); }
  void resume() override {
    if (!waits_for_change_) return enter();
    require(notified_.ok.get(), "a task was woken, and was not notified");
    waits_for_change_ = false;
    ++notifications;
    take_lock();
  }
  int taken = 0;
  int notifications = 0;

 private:
  void take_lock() {
    runq::detail::waiter<waking_policy>& turn = turns_[rounds_++];
    turn.who.set(this);
    if (place_.lock.lock_or_wait(turn)) enter();
  }
  void enter() {
    place_.lock.arrived();
    if (place_.value.get() == 0) {
      waits_for_change_ = true;
      notified_.who.set(this);
      // From here on another thread may run the task.
      require(place_.changed.wait(notified_, place_.lock), "a task whose wait was not withdrawn does not wait");
      return;
    }
    place_.value.set(place_.value.get() - 1);
    ++taken;
    require(place_.lock.unlock(), "a held mutex is free");
  }
  counted& place_;
  bool waits_for_change_ = false;
  unsigned rounds_ = 0;
  runq::detail::waiter<waking_policy> turns_[2];  // it waits for a change at most once
  runq::detail::revocable_waiter<waking_policy> notified_;
};

// A task that adds 1, and notifies one.
class adder final : public sleeping_task {
 public:
  explicit adder(counted& place) : place_(place) { turn_.who.set(this); }
  void start() {
    if (place_.lock.lock_or_wait(turn_)) resume();
  }
  void resume() override {
    place_.lock.arrived();
    place_.value.set(place_.value.get() + 1);
    require(place_.lock.unlock(), "a held mutex is free");
    place_.changed.notify_one();
  }

 private:
  counted& place_;
  runq::detail::waiter<waking_policy> turn_;
};

// A task waits for a change ‖ another one makes it and notifies one.
struct wait_vs_notify final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      task.start();
    } else {
      change.start();
    }
  }
  void finish() override {
    require(task.taken == 1, "a task has missed what it was notified of");
    require(place.lock.try_lock(), "the mutex is not free");
  }
  counted place;
  taker task{place};
  adder change{place};
};

// A task that only waits for a notification.
class listener final : public sleeping_task {
 public:
  explicit listener(condition_type& on) : on_(on) { node_.who.set(this); }
  void start() {
    require(lock_.try_lock(), "a new mutex is not free");
    if (!on_.wait(node_, lock_)) resume();
  }
  void call_back() {
    if (on_.withdraw(node_)) waking_policy::wake(this);
  }
  void resume() override { ++(node_.ok.get() ? notified : called_back); }
  int notified = 0;
  int called_back = 0;

 private:
  condition_type& on_;
  mutex_type lock_;
  runq::detail::revocable_waiter<waking_policy> node_;
};

// Three tasks wait. A thread notifies one ‖ another thread notifies one.
struct notify_one_notifies_one final : scenario {
  notify_one_notifies_one() {
    for (listener& task : tasks) task.start();
  }
  void thread(unsigned) override { changed.notify_one(); }
  void finish() override {
    require(tasks[0].notified == 1 && tasks[1].notified == 1, "the task that has waited longest was not notified");
    require(tasks[2].notified == 0, "more tasks were notified than was asked for");
    changed.notify_all();
    require(tasks[2].notified == 1, "a task that waits was not notified");
  }
  condition_type changed;
  listener tasks[3]{listener(changed), listener(changed), listener(changed)};
};

// Two tasks wait. All are notified ‖ a third one begins to wait.
struct all_notified final : scenario {
  all_notified() {
    first.start();
    second.start();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      changed.notify_all();
    } else {
      third.start();
    }
  }
  void finish() override {
    require(first.notified == 1 && second.notified == 1, "a task that waits was not notified, or twice");
    changed.notify_all();
    require(third.notified == 1, "a task that came meanwhile was lost, or is notified twice");
  }
  condition_type changed;
  listener first{changed};
  listener second{changed};
  listener third{changed};
};

// A task begins to wait ‖ its wait is withdrawn.
struct withdraw_vs_wait final : scenario {
  void thread(unsigned index) override { index == 0 ? task.start() : task.call_back(); }
  void finish() override {
    require(task.called_back == 1 && task.notified == 0, "a task whose wait was withdrawn does not go on, or not once");
    changed.notify_all();
    require(task.called_back == 1 && task.notified == 0, "a task that has gone on is notified");
  }
  condition_type changed;
  listener task{changed};
};

// Two tasks wait. One is notified ‖ the wait of the first is withdrawn.
struct withdraw_vs_notify final : scenario {
  withdraw_vs_notify() {
    first.start();
    second.start();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      changed.notify_one();
    } else {
      first.call_back();
    }
  }
  void finish() override {
    require(first.notified + first.called_back == 1,
            "a task whose wait was withdrawn waits for ever, or goes on twice");
    require(second.notified == first.called_back, "a notification went to a task that has ended, or to two");
    changed.notify_all();
    require(second.notified == 1 && second.called_back == 0,
            "a task is told that its wait was withdrawn although another task's was");
  }
  condition_type changed;
  listener first{changed};
  listener second{changed};
};

// A task is destroyed where it waits for a change, because its run has ended, while others are notified.

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
    add_case<wait_vs_notify>({
        .name = "condition_variable/wait_vs_notify",
        .property = "a waiting task misses no notification that comes after a change under the mutex",
        .threads = 2,
    }),
    add_case<all_notified>({
        .name = "condition_variable/all_notified",
        .property = "notify_all() notifies all waiting tasks, each once",
        .threads = 2,
        .kept_for = "several tasks wait when all are notified",
    }),
    add_case<notify_one_notifies_one>({
        .name = "condition_variable/notify_one_notifies_one",
        .property = "each notify_one() notifies one task, the one that has waited longest",
        .threads = 2,
        .kept_for = "the order of the tasks is asked",
    }),
    add_case<withdraw_vs_wait>({
        .name = "condition_variable/withdraw_vs_wait",
        .property = "a task whose wait is withdrawn when it begins goes on, once: wait ‖ withdraw",
        .threads = 2,
    }),
    add_case<withdraw_vs_notify>({
        .name = "condition_variable/withdraw_vs_notify",
        .property = "a notification reaches the task whose wait is withdrawn, or the next one: notify ‖ withdraw",
        .threads = 2,
        .kept_for = "a notification and a withdrawal meet",
    }),
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
