// SPDX-License-Identifier: MIT
// S16: a worker that gives its processor back and does not look at the other queues again, because it was not spinning.
//
// Source: golang/go#45867, broken work conservation: a runnable goroutine on one queue, an idle processor, and no
// worker that brings them together. CL 310850 had left the last look at all queues to workers that were spinning.
//
//   1. worker: finds nothing on its own and on the global queue; enough others spin, so it does not steal
//   2. submitter: puts a task on its own queue; no processor is idle, so there is no worker to wake; goes on with
//      something long
//   3. worker: makes its processor idle, and sleeps without another look
//   4. the submitter does not come back to the task, so the task waits although a processor is idle
// Fix: as before CL 310850, every worker that has made its processor idle looks at all queues again. Or, in Go since
// 2022, a submitter that finds no idle processor leaves a request (`needspinning`), and a worker that was not spinning
// answers it before it gives up its own processor. Both under the scheduler's lock. The re-creation has the latter.
// Caught by: exact (deadlock); Relacy, bounded and random (livelock: its threads spin).
#include "corpus.hpp"
#include "waiting.hpp"

namespace runq::model::corpus {
namespace {

// Submitter: push, wake a worker if a processor is idle, then wait for the task ‖ worker, not spinning: sleep.
template <bug Bug>
struct no_look final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      queue.store(tasks.make(1), release);
      atomics::fence(seq_cst);
      wake_one();
      await([this] { return done.load(acquire) != 0; });
    } else {
      if (give_processor_back()) sleeper.park();
      tasks.run(queue.load(acquire));
      done.store(1, release);
    }
  }
  void finish() override { tasks.require_all_ran(); }

  void wake_one() {
    if (Bug == bug::seeded && idle_processors.load(relaxed) == 0) return;
    lock.lock();
    const int idle = idle_processors.load(relaxed);
    if (idle != 0) {
      idle_processors.store(idle - 1, relaxed);
    } else {
      worker_needed.set(true);
    }
    lock.unlock();
    if (idle != 0) sleeper.unpark();
  }
  /// Returns whether the processor was given back; if not, the worker must go stealing.
  bool give_processor_back() {
    lock.lock();
    const bool steal = Bug == bug::fixed && worker_needed.get();
    if (!steal) idle_processors.store(idle_processors.load(relaxed) + 1, relaxed);
    lock.unlock();
    return !steal;
  }

  task_set<1> tasks;
  atomic<task*> queue{nullptr};
  mutex lock;
  atomic<int> idle_processors{0};
  cell<bool> worker_needed{false};
  atomic<int> done{0};
  parker sleeper;
};

const bool added[] = {
    add_case<no_look<bug::seeded>>({
        .name = "corpus/S16_no_look_unless_spinning",
        .property = "no task waits beside an idle processor: submit ‖ give the processor back, sleep",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<no_look<bug::fixed>>({
        .name = "corpus/S16_fixed_worker_needed",
        .property = "no task waits beside an idle processor: submit ‖ give the processor back, sleep",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model::corpus
