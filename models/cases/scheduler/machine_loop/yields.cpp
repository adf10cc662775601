// SPDX-License-Identifier: MIT
// Tasks that have yielded wait in a ring of their processor; when it is full it is emptied into the global queue. None
// is stuck there: not when a machine goes to sleep, and not on a processor that is busy, or retires, or always has
// other tasks. They go behind the tasks of the global queue, but at every second turn they come first.
#include "vs_last_spinner.hpp"

namespace runq::model {
namespace {

// Two processors. Tasks 1 and 2 have yielded on processor 0, whose ring is full. Machine 0: task 3 yields, and it is
// busy with another task for long ‖ machine 1, spinning, the last one, which may look just when tasks 1 and 2 are on
// their way from the ring to the global queue: runs all.
struct full_ring_vs_last_spinner final : machine_loop_model<2, 2, 3, queues_for_yields> {
  full_ring_vs_last_spinner() {
    settle(0);
    for (const int id : {1, 2}) require(processors[0].own_yielded.push(tasks.make(id)), "no room for a task");
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      looping.yield(processors[0], tasks.make(3));
      return;
    }
    for (int i = 0; i != 3; ++i) {
      require(run_one(machines[1]) != 0, "the machine left although the scheduler does not stop");
    }
  }
  void finish() override {
    tasks.require_all_ran();
    require_all_accounted_for();
  }
};

// One processor, with task 1 in its ring and task 2 in the global queue. Machine 0: tasks 3, 4 and 5 yield, one more
// than there is room for; it runs all ‖ outside: puts task 6 in the global queue.
struct yields_in_order final : machine_loop_model<1, 1, 6, queues_for_yields> {
  yields_in_order() {
    settle(0);
    tasks_stay = true;
    (void)processors[0].own_queue.push(tasks.make(1));
    global.put(tasks.make(2));
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 1) {
      global.put(tasks.make(6));
      parking.submitted_in_order();
      return;
    }
    for (const int id : {3, 4, 5}) looping.yield(processors[0], tasks.make(id));
    fifo_view order;
    for (int i = 0; i != 6; ++i) {
      const int id = run_one(machines[0]);
      require(id != 0, "the machine left although the scheduler does not stop");
      if (id != 6) order.see(id);
    }
  }
  void finish() override { tasks.require_all_ran(); }
};

enum class comes_first : unsigned char { global, oldest };

// One processor. Task 1 has yielded, task 2 is in the runnext slot, and it is the turn of the global queue, or the
// chain of tasks that wake each other is full. Machine 0: runs task 1 before task 2, and task 3 ‖ outside: puts task 3
// in the global queue.
template <comes_first What>
struct turn_of_yielded final : machine_loop_model<1, 1, 3, queues_for_yields> {
  turn_of_yielded() {
    settle(0);
    tasks_stay = true;
    require(processors[0].own_yielded.push(tasks.make(1)), "no room for a task");
    (void)processors[0].own_queue.push_next(tasks.make(2));
    processors[0].global_first = What == comes_first::global;
    processors[0].chain.is_due = What == comes_first::oldest;
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 1) {
      global.put(tasks.make(3));
      parking.submitted_in_order();
      return;
    }
    fifo_view order;
    for (int i = 0; i != 3; ++i) {
      const int id = run_one(machines[0]);
      if (id != 3) order.see(id);
    }
  }
  void finish() override { tasks.require_all_ran(); }
};

// One processor, on which it is always the turn of the global queue. Tasks 1 and 3 have yielded, task 2 is in the
// global queue, and task 4 in the runnext slot. Machine 0: runs these in this order, so it takes from both in turn, and
// task 5 ‖ outside: puts task 5 in the global queue.
struct turns_alternate final : machine_loop_model<1, 1, 5, queues_for_yields> {
  turns_alternate() {
    settle(0);
    tasks_stay = true;
    for (const int id : {1, 3}) require(processors[0].own_yielded.push(tasks.make(id)), "no room for a task");
    global.put(tasks.make(2));
    (void)processors[0].own_queue.push_next(tasks.make(4));
    processors[0].global_first = true;
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 1) {
      global.put(tasks.make(5));
      parking.submitted_in_order();
      return;
    }
    fifo_view order;
    for (int i = 0; i != 5; ++i) {
      const int id = run_one(machines[0]);
      if (id != 5) order.see(id);
    }
  }
  void finish() override { tasks.require_all_ran(); }
};

// One processor. Task 1 has yielded, and task 2 is in the global queue. Machine 0: runs both ‖ another machine: may
// take task 2 just when machine 0 has seen it.
struct yielded_vs_taker final : machine_loop_model<1, 1, 2, queues_for_yields> {
  yielded_vs_taker() {
    settle(0);
    tasks_stay = true;
    require(processors[0].own_yielded.push(tasks.make(1)), "no room for a task");
    global.put(tasks.make(2));
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 1) {
      if (task* const t = global.take()) tasks.run(t);
      return;
    }
    while (run_one(machines[0]) != 1) {
    }
  }
  void finish() override { tasks.require_all_ran(); }
};

// Processor 1 has become surplus, with task 1 next, and task 2 has yielded there. Machine 1, busy: gives it up ‖
// machine 0, spinning. The machine with the other processor runs them, in that order; the last task stops the
// scheduler.
struct yields_evacuated final : machine_loop_model<2, 2, 2, queues_for_yields> {
  yields_evacuated() {
    settle(0);
    settle(1);
    look_for_work(0);
    (void)processors[1].own_queue.push_next(tasks.make(1));
    require(processors[1].own_yielded.push(tasks.make(2)), "no room for a task");
    parking.resize(1);
    constructed();
  }
  void thread(unsigned index) override {
    while (const int id = run_one(machines[index])) {
      order.see(id);
      if (id == 2) parking.stop();
    }
  }
  void finish() override { tasks.require_all_ran(); }

  fifo_view order;  // of the tasks that were run: there is one processor
};

const bool added[] = {
    add_case<yield_vs_last_spinner<false>>({
        .name = "machine_loop/yield_vs_last_spinner",
        .property =
            "no machine sleeps while a task that has yielded waits: yield, fence ‖ the last spinning machine goes idle",
        .threads = 2,
        .kept_for = "the smallest program with a task that yields",
    }),
    add_case<yield_vs_last_spinner<true>>({
        .name = "machine_loop/yield_vs_doze",
        .property = "a machine that begins to doze sees a task that has yielded, or is woken for it",
        .threads = 2,
        .kept_for = "the machine dozes",
    }),
    add_case<full_ring_vs_last_spinner>({
        .name = "machine_loop/full_ring_of_yields_vs_last_spinner",
        .property = "no machine sleeps while tasks that have yielded wait that were moved to the global queue",
        .threads = 2,
    }),
    add_case<yields_in_order>({
        .name = "machine_loop/yields_in_order",
        .property = "tasks that yield go behind all tasks of the ring and of the global queue, in their order",
        .threads = 2,
    }),
    add_case<turn_of_yielded<comes_first::global>>({
        .name = "machine_loop/yielded_turn",
        .property = "at the turn of the global queue a task that has yielded comes before the task that is next",
        .threads = 2,
        .kept_for = "the turn of the global queue, without a chain",
    }),
    add_case<turn_of_yielded<comes_first::oldest>>({
        .name = "machine_loop/full_chain_then_yielded",
        .property = "after a full chain a task that has yielded comes before the task that is next",
        .threads = 2,
    }),
    add_case<turns_alternate>({
        .name = "machine_loop/yielded_turns_alternate",
        .property = "of two turns one is the global queue's, and one that of the tasks that have yielded",
        .threads = 2,
    }),
    add_case<yielded_vs_taker>({
        .name = "machine_loop/yielded_vs_taker",
        .property = "a machine whose last task of the global queue another one takes runs its task that has yielded",
        .threads = 2,
    }),
    add_case<yields_evacuated>({
        .name = "machine_loop/yields_evacuated",
        .property = "tasks that have yielded on a processor that retires are run, behind its others",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model
