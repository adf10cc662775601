// SPDX-License-Identifier: MIT
// Threads that sleep until there is work, and threads that make it: no thread sleeps beside work, and whoever wakes
// sees what it was woken for.
#include "eventcount_model.hpp"
#include "runq/ring.hpp"

namespace runq::model {
namespace {

// Maker: a task, a notification ‖ worker: sleeps until there is a task, takes it.
struct one_worker final : workers_and_makers<atomics> {
  void thread(unsigned index) override { index == 0 ? make_one() : run_one(); }
};

// Maker: twice a task and a notification ‖ two workers: a task each.
struct two_workers final : workers_and_makers<atomics> {
  void thread(unsigned index) override {
    if (index != 0) return run_one();
    make_one();
    make_one();
  }
};

// Maker: two tasks, one notification of two ‖ two workers: a task each.
struct a_batch final : workers_and_makers<atomics> {
  void thread(unsigned index) override {
    if (index != 0) return run_one();
    tasks.push();
    tasks.push();
    idle.notify(2);
  }
};

// Two makers: a task, a notification ‖ worker: two tasks, one after the other.
struct two_makers final : workers_and_makers<atomics> {
  void thread(unsigned index) override {
    if (index != 2) return make_one();
    run_one();
    run_one();
  }
};

// A thread notifies, without a task of its own ‖ maker: twice a task and a notification ‖ worker: both tasks, one after
// the other.
struct beside_a_slow_one final : workers_and_makers<atomics> {
  void thread(unsigned index) override {
    if (index == 0) return idle.notify_one();
    for (int i = 0; i != 2; ++i) index == 1 ? make_one() : run_one();
  }
};

// Two workers sleep until the end ‖ the end: a flag, a notification of all.
struct the_end final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      stopping.store(1, std::memory_order::relaxed);
      idle.notify_all();
    } else {
      idle.await([this] { return stopping.load(std::memory_order::relaxed) != 0; });
    }
  }
  eventcount_of<> idle;
  atomic<int> stopping{0};
};

// Maker: a task, a notification ‖ worker: sleeps for a time, and then as long as it takes ‖ the time passes.
struct for_a_time final : workers_and_makers<atomics> {
  void thread(unsigned index) override {
    if (index == 0) {
      make_one();
    } else if (index == 2) {
      clock.pass();
    } else {
      if (sleep_for_a_time()) require(tasks.has_work(), "a thread that was notified does not see the task");
      run_one();
    }
  }
};

// Maker: a task, a notification ‖ worker: sleeps for a time; if it was notified, it runs the task, otherwise it leaves
// ‖ another worker: runs the task, if the first one has not ‖ the time passes.
struct one_leaves final : workers_and_makers<atomics> {
  void thread(unsigned index) override {
    if (index == 0) {
      make_one();
    } else if (index == 1) {
      if (sleep_for_a_time()) take();
    } else if (index == 2) {
      idle.await([this] { return tasks.has_work() || taken.load(std::memory_order::relaxed) != 0; });
      take();
    } else {
      clock.pass();
    }
  }
  void take() {
    if (!tasks.take()) return;
    taken.store(1, std::memory_order::relaxed);
    idle.notify_all();
  }
  atomic<int> taken{0};
};

// Owner: pushes into a ring, notifies ‖ worker: sleeps until the ring has work, steals it.
struct with_a_ring final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      auto owner = ring.make_owner();
      require(owner.push(tasks.make(1)), "a push failed although there was room");
      idle.notify_one();
    } else {
      const auto thief = ring.make_thief();
      idle.await([&] { return thief.has_work(); });
      const auto loot = thief.steal();
      require(static_cast<bool>(loot), "the only thief stole nothing although there is work");
      tasks.run(loot.value);
    }
  }
  void finish() override { tasks.require_all_ran(); }

  eventcount_of<> idle;
  basic_ring<task*, 2, std::uint64_t, atomics> ring;
  task_set<1> tasks;
};

const bool added[] = {
    add_case<one_worker>({
        .name = "eventcount/one_worker",
        .property = "a thread that sleeps, or is about to, wakes when there is a task",
        .threads = 2,
        .mutants = {{"prepare_acq_rel", "eventcount.prepare", std::memory_order::acq_rel},
                    {"notify_acq_rel", "eventcount.notify", std::memory_order::acq_rel}},
        .kept_for = "the smallest program",
    }),
    add_case<two_workers>({
        .name = "eventcount/two_workers",
        .property = "two tasks and two notifications: both of two workers get a task",
        .threads = 3,
        .kept_for = "two threads that fall asleep",
    }),
    add_case<a_batch>({
        .name = "eventcount/a_batch",
        .property = "two tasks and one notification of two: both of two workers get a task",
        .threads = 3,
        .kept_for = "a notification of several threads",
    }),
    add_case<two_makers>({
        .name = "eventcount/two_makers",
        .property = "a worker that sleeps twice wakes for both of two makers",
        .threads = 3,
        .kept_for = "two notifications at the same time",
    }),
    add_case<beside_a_slow_one>({
        .name = "eventcount/beside_a_slow_one",
        .property = "a worker that sleeps twice wakes for both tasks, also beside a notification that takes long",
        .threads = 3,
    }),
    add_case<the_end>({
        .name = "eventcount/the_end",
        .property = "notify_all() wakes all that sleep or are about to",
        .threads = 3,
        .kept_for = "a notification of all threads",
    }),
    add_case<sees_the_news<atomics>>({
        .name = "eventcount/sees_the_news",
        .property = "what happened before a notification happens before the return of the wait that it ends",
        .threads = 2,
        .mutants = {{"look_relaxed", "eventcount.look", std::memory_order::relaxed}},
        .kept_for = "the fences of the language",
    }),
    add_case<for_a_time>({
        .name = "eventcount/for_a_time",
        .property = "a thread whose time limit is over and that waits again wakes when there is a task",
        .threads = 3,
    }),
    add_case<one_leaves>({
        .name = "eventcount/one_leaves",
        .property = "a thread whose time limit is over takes no wake-up from another one",
        .threads = 4,
        .kept_for = "a time limit beside another sleeper",
    }),
    add_case<with_a_ring>({
        .name = "eventcount/with_a_ring",
        .property = "a thief that sleeps until a ring has work is woken by its owner, and steals the task",
        .threads = 2,
        .kept_for = "a shipped queue",
    }),
};

}  // namespace
}  // namespace runq::model
