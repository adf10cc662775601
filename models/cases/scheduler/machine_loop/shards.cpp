// SPDX-License-Identifier: MIT
// The global queue has two shards, and each of two processors asks its own first. No task is stuck in the shard of the
// other one: not when a machine goes to sleep, and not beside tasks that are always runnable.
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
};

}  // namespace
}  // namespace runq::model
