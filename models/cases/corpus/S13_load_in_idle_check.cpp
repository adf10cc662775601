// SPDX-License-Identifier: MIT
// S13: a submitter that asks by a seq_cst load whether any worker is looking for work.
//
// Source: tokio#1768, #1788: the runtime got stuck; the load became a read-modify-write that adds nothing. tokio#8201
// proposed the load again in 2026.
//
//   1. submitter: writes the task into its queue (release)
//   2. submitter: reads the number of searching workers (seq_cst load): 1, so it wakes no worker
//   3. worker: the last searcher gives up: takes itself off that number (seq_cst), looks at all queues once more
//   4. worker: reads the old, empty queue: the submitter has written nothing that the worker's decrement could have
//      read, so nothing makes the task's write happen before this look; and a release store is not in the order of
//      seq_cst operations
//   5. worker: sleeps; task and worker wait for ever
// Fix: a read-modify-write in step 2: whichever of the two comes second reads the other's, and sees what was before it.
// (Or a fence on both sides, as Go has it.)
// Caught by: exact (deadlock); Relacy, bounded and random (livelock: its threads spin).
#include "corpus.hpp"
#include "waiting.hpp"

namespace runq::model::corpus {
namespace {

// Submitter: a task, and a wake-up if no worker searches ‖ worker: search, stop searching, look again, sleep.
template <bug Bug>
struct load_in_idle_check final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      queue.store(tasks.make(1), release);
      if (count_searching() == 0) sleeper.unpark();
    } else {
      if (run_one()) return;
      searching.fetch_sub(1, seq_cst);
      if (run_one()) return;
      sleeper.park();
      require(run_one(), "a worker was woken and found nothing");
    }
  }
  void finish() override { tasks.require_all_ran(); }

  int count_searching() { return Bug == bug::seeded ? searching.load(seq_cst) : searching.fetch_add(0, seq_cst); }
  bool run_one() {
    task* const t = queue.load(acquire);
    if (t != nullptr) tasks.run(t);
    return t != nullptr;
  }

  task_set<1> tasks;
  atomic<task*> queue{nullptr};
  atomic<int> searching{1};
  parker sleeper;
};

const bool added[] = {
    add_case<load_in_idle_check<bug::seeded>>({
        .name = "corpus/S13_load_in_idle_check",
        .property = "no worker sleeps while a task waits: submit ‖ search, stop, look again, sleep",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<load_in_idle_check<bug::fixed>>({
        .name = "corpus/S13_fixed_rmw_in_idle_check",
        .property = "no worker sleeps while a task waits: submit ‖ search, stop, look again, sleep",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model::corpus
