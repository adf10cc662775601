// SPDX-License-Identifier: MIT
// The global queue has two shards, and each of two processors asks its own first. No task is stuck in the shard of the
// other one: not when a machine goes to sleep, and not beside tasks that are always runnable.
#include "../short_lock/short_lock_model.hpp"
#include "vs_last_spinner.hpp"

namespace runq::model {
namespace {

struct two_shards : shipped_queues<> {
  static constexpr unsigned shards = 2;
};

// A thread outside puts task 1 in a shard.
template <unsigned Shard>
struct in_shard_vs_last_spinner final : vs_last_spinner<two_shards> {
  void make_runnable() override {
    global.put(tasks.make(1), Shard);
    parking.submitted_in_order();
  }
};

// One processor, on which it is always the turn of the global queue. Tasks 1, 2 and 4 are in its own shard, task 3 in
// the other one, and task 5 in the runnext slot. Machine 0: runs these in this order, so it takes from both shards in
// turn, twice each, and task 6 ‖ outside: puts task 6 in the other shard.
struct shards_have_turns final : machine_loop_model<1, 1, 6, two_shards> {
  shards_have_turns() {
    settle(0);
    for (const int id : {1, 2, 4}) global.put(tasks.make(id), 0);
    global.put(tasks.make(3), 1);
    (void)processors[0].own_queue.push_next(tasks.make(5));
    processors[0].global_first = true;
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 1) {
      global.put(tasks.make(6), 1);
      parking.submitted_in_order();
      return;
    }
    fifo_view order;
    for (int i = 0; i != 6; ++i) {
      const int id = run_one(machines[0]);
      if (id != 6) order.see(id);
    }
  }
  void finish() override { tasks.require_all_ran(); }
};

// The ring of processor 0 has 2 slots, and its shard is shard 0. It has overflowed once, so now it overflows into
// shard 1. Tasks 1 and 2 are in the ring, and task 3 is next. Machine 0, busy for long: makes task 4 the next one, so
// tasks 1 and 3 overflow ‖ machine 1, spinning, the last one: look, rest, run all four.
struct overflow_vs_last_spinner final : machine_loop_model<2, 2, 4, two_shards> {
  overflow_vs_last_spinner() {
    settle(0);
    for (const int id : {1, 2, 3}) (void)processors[0].own_queue.push_next(tasks.make(id));
    processors[0].own_queue.overflow_into(global.near(1));
    processors[0].overflows = 1;
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      // Nothing overflows if the other machine has taken tasks before.
      (void)looping.make_next(processors[0], tasks.make(4));
      return;
    }
    for (int i = 0; i != 4; ++i) {
      require(run_one(machines[1]) != 0, "the machine left although the scheduler does not stop");
    }
  }
  void finish() override {
    tasks.require_all_ran();
    require_all_accounted_for();
  }
};

// As before, but the queues are empty. Machine 0: makes tasks 1 to 6 the next ones, so tasks 1 and 3 overflow, and then
// tasks 2 and 5 ‖ another thread: takes from shard 1.
struct overflows_take_turns final : machine_loop_model<1, 1, 6, two_shards> {
  overflows_take_turns() {
    settle(0);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 1) {
      run_from(1);
      return;
    }
    for (int id = 1; id <= 6; ++id) {
      const std::size_t overflowed = looping.make_next(processors[0], tasks.make(id));
      require(overflowed == (id == 4 || id == 6 ? 2U : 0U), "another number of tasks overflows");
    }
  }
  void finish() override {
    while (run_from(0)) continue;
    while (run_from(1)) continue;
    for (task_list left = processors[0].own_queue.drain(); task* const t = left.pop_front();) tasks.run(t);
    tasks.require_all_ran();
  }

 private:
  // Each shard has one overflow, whole and in order.
  bool run_from(unsigned shard) {
    task* const t = global.near(shard).take();
    if (t == nullptr) return false;
    constexpr std::array expected{std::array{1, 3, 0}, std::array{2, 5, 0}};
    require(tasks.id_of(t) == expected[shard][taken_[shard]++],
            "tasks overflow in another order, or into another shard");
    tasks.run(t);
    return true;
  }
  std::array<std::size_t, 2> taken_{};
};

// Two shards with the shipped lock, and the elements 1 and 2.
struct shards_in_use : scenario {
  struct element {
    inject_link<element, atomics_and_short_lock> link;
    int taken = 0;
  };
  void take(element* e) {
    if (e != nullptr) ++e->taken;
  }
  void require_each_was_taken_once() {
    for (const element& e : elements) require(e.taken == 1, "an element was left, or taken twice");
  }

  std::array<element, 2> elements;
  global_shards<&element::link, 2> all{2};
};

// The elements are in shard 1. Thread 0: takes one from there ‖ thread 1, whose shard is shard 0: takes until it sees
// that there is nothing. It may leave out shard 1 each time that it looks there, because thread 0 holds the lock.
struct last_look_waits final : shards_in_use {
  last_look_waits() {
    for (element& e : elements) all.put(&e, 1);
  }
  void thread(unsigned index) override {
    if (index == 0) return take(all.take(1));
    do {
      take(all.take(0));
    } while (all.has_work());
  }
  void finish() override { require_each_was_taken_once(); }
};

// Each shard has one element. Thread 0: looks whether there is something, and so holds the lock of shard 0 for a moment
// ‖ thread 1: takes from shard 0 what is there, and then from shard 1.
struct first_shard_is_waited_for final : shards_in_use {
  first_shard_is_waited_for() {
    for (unsigned i = 0; i != 2; ++i) all.put(&elements[i], i);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      (void)all.near(0).has_work();
      return;
    }
    for (unsigned i = 0; i != 2; ++i) {
      element* const e = all.take(i);
      require(e == &elements[i], "a shard has no turn, because another thread uses it");
      take(e);
    }
  }
  void finish() override { require_each_was_taken_once(); }
};

const bool added[] = {
    add_case<in_shard_vs_last_spinner<0>>({
        .name = "machine_loop/other_shard_vs_last_spinner",
        .property = "no machine sleeps while a task waits in the shard of another processor",
        .threads = 2,
        .kept_for = "the smallest program with a task in another shard",
    }),
    add_case<in_shard_vs_last_spinner<1>>({
        .name = "machine_loop/own_shard_vs_last_spinner",
        .property = "no machine sleeps while a task waits in the shard of its processor",
        .threads = 2,
        .kept_for = "the task is in the processor's own shard",
    }),
    add_case<shards_have_turns>({
        .name = "machine_loop/shards_have_turns",
        .property = "beside tasks that are always runnable each shard of the global queue has its turns",
        .threads = 2,
    }),
    add_case<last_look_waits>({
        .name = "machine_loop/shard_in_use_vs_last_look",
        .property = "a thread leaves out a shard that another one uses, but not when it asks whether there is work",
        .threads = 2,
    }),
    add_case<first_shard_is_waited_for>({
        .name = "machine_loop/first_shard_is_waited_for",
        .property = "a thread waits for the shard whose turn it is",
        .threads = 2,
    }),
    add_case<overflow_vs_last_spinner>({
        .name = "machine_loop/overflow_vs_last_spinner",
        .property = "no machine sleeps while tasks of another processor overflow into its shard",
        .threads = 2,
        .kept_for = "the tasks come from a ring, all at once",
    }),
    add_case<overflows_take_turns>({
        .name = "machine_loop/overflows_take_turns",
        .property = "a ring overflows into each shard of the global queue in turn, each time whole and in order",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model
