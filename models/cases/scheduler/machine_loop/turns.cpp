// SPDX-License-Identifier: MIT
// A machine has a task that is to run next, and another one has its turn first; somebody may take that at the same
// time.
#include "machine_loop_model.hpp"

namespace runq::model {
namespace {

enum class taker : bool { at_once, late };

// One processor. Task 1 has its turn before task 2, which is next. Machine 0: runs them ‖ another one: may take task 1,
// or comes too late for that.
struct turn_vs_taker : machine_loop_model<1, 1, 2, shipped_queues<2, fork_deques>> {
  explicit turn_vs_taker(taker comes) : comes_(comes) { tasks_stay = true; }
  void next_is_2() {
    (void)processors[0].own_queue.push_next(tasks.make(2));
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      first = run_one(machines[0]);
      tell(2);
      if (first == 1) require(run_one(machines[0]) == 2, "the task that is next is not run after the other");
      return;
    }
    if (comes_ == taker::late) wait_for(2);
    if (task* const t = take()) {
      tasks.run(t);
      taken = true;
    }
  }
  virtual task* take() = 0;
  void finish() override {
    tasks.require_all_ran();
    require(first == (taken ? 2 : 1), "a task was run before its turn");
    require(!taken || comes_ == taker::at_once, "a task did not have its turn");
  }

  int first = 0;
  bool taken = false;

 private:
  taker comes_;
};

// The turn of the global queue has come.
template <taker Comes>
struct global_turn final : turn_vs_taker {
  global_turn() : turn_vs_taker(Comes) {
    global.put(tasks.make(1));
    processors[0].global_first = true;
    next_is_2();
  }
  task* take() override { return global.take(); }
};

// The chain of tasks that wake each other is full, and the others are in the ring …
template <taker Comes>
struct chain_full_ring final : turn_vs_taker {
  chain_full_ring() : turn_vs_taker(Comes) {
    (void)processors[0].own_queue.push(tasks.make(1));
    processors[0].chain.is_due = true;
    next_is_2();
  }
  task* take() override { return owner_of_another.steal_from(processors[0].queue_thief).value; }

  local_queue another{global};
  local_queue::owner owner_of_another = another.make_owner();
};

// … or in the global queue.
template <taker Comes>
struct chain_full_global final : turn_vs_taker {
  chain_full_global() : turn_vs_taker(Comes) {
    global.put(tasks.make(1));
    processors[0].chain.is_due = true;
    next_is_2();
  }
  task* take() override { return global.take(); }
};

// It has forked.
template <taker Comes>
struct own_fork final : turn_vs_taker {
  own_fork() : turn_vs_taker(Comes) {
    require(processors[0].own_forks.push(tasks.make(1)), "no memory for a fork");
    next_is_2();
  }
  task* take() override {
    const auto fork = processors[0].forks_thief.steal();
    return fork ? fork.value : nullptr;
  }
};

const bool added[] = {
    add_case<global_turn<taker::late>>({
        .name = "machine_loop/global_turn",
        .property = "the global queue has its turn",
        .threads = 2,
        .quick = {.random = 20'000, .bound = 2},
    }),
    add_case<global_turn<taker::at_once>>({
        .name = "machine_loop/global_turn_vs_taker",
        .property =
            "a machine whose turn it is to take from the global queue, and finds it empty, goes on with its own task",
        .threads = 2,
        .quick = {.random = 20'000, .bound = 2},
    }),
    add_case<chain_full_ring<taker::late>>({
        .name = "machine_loop/chain_full_ring",
        .property = "after a full chain the ring's oldest task has its turn",
        .threads = 2,
        .quick = {.random = 20'000, .bound = 2},
    }),
    add_case<chain_full_ring<taker::at_once>>({
        .name = "machine_loop/chain_full_ring_vs_taker",
        .property = "unless a thief has it",
        .threads = 2,
        .quick = {.random = 20'000, .bound = 2},
    }),
    add_case<chain_full_global<taker::late>>({
        .name = "machine_loop/chain_full_global",
        .property = "with an empty ring it is the global queue's",
        .threads = 2,
        .quick = {.random = 20'000, .bound = 2},
    }),
    add_case<chain_full_global<taker::at_once>>({
        .name = "machine_loop/chain_full_global_vs_taker",
        .property = "unless somebody has it",
        .threads = 2,
        .quick = {.random = 20'000, .bound = 2},
    }),
    add_case<own_fork<taker::late>>({
        .name = "machine_loop/own_fork",
        .property = "a machine takes what it forked last",
        .threads = 2,
        .quick = {.random = 20'000, .bound = 2},
    }),
    add_case<own_fork<taker::at_once>>({
        .name = "machine_loop/own_fork_vs_taker",
        .property = "unless a thief has it",
        .threads = 2,
        .quick = {.random = 20'000, .bound = 2},
    }),
};

}  // namespace
}  // namespace runq::model
