// SPDX-License-Identifier: MIT
// S15: the count of awake workers and the list of sleeping ones drift apart.
//
// Source: tokio#8372, #8373: after a task dump of an idle runtime, work submitted from outside never ran.
//
//   1. worker: nothing to do: takes itself off the count of awake workers (1 → 0), adds itself to the list, sleeps
//   2. dump: wakes the worker's thread directly, past that bookkeeping, to have its state written out
//   3. worker: no task is queued, so it leaves list and count alone; writes its state out; goes to sleep again: 0 → -1,
//      which is a huge number of awake workers, and it stands in the list twice
//   4. submitter: all workers seem to be awake: wakes none; task and worker wait for ever
// Fix: a worker that is woken for a dump strikes itself off the list and counts itself in, as for a task.
// Caught by: exact (deadlock); Relacy, bounded and random (livelock: its threads spin).
#include <cstdint>

#include "corpus.hpp"
#include "waiting.hpp"

namespace runq::model::corpus {
namespace {

// Worker: run a task, or sleep ‖ a dump; when that is written, a task from outside.
template <bug Bug>
struct parked_twice final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      work();
    } else {
      dump.store(requested, release);
      sleeper.unpark();
      await([this] { return dump.load(acquire) == written; });
      submit();
    }
  }
  void finish() override { tasks.require_all_ran(); }

  static constexpr std::uint32_t workers = 1;
  enum dump_state : unsigned char { none, requested, written };

  void work() {
    for (;;) {
      if (dump.load(acquire) == requested) dump.store(written, release);
      lock.lock();
      if (task* const t = injected.get()) {
        injected.set(nullptr);
        lock.unlock();
        tasks.run(t);
        return;
      }
      awake.fetch_sub(1, seq_cst);
      asleep.set(asleep.get() + 1);
      lock.unlock();
      do {
        sleeper.park();
      } while (!back_from_sleep() && dump.load(acquire) != requested);
    }
  }
  /// Whether the worker counts as awake. A thread that woke it for a task has counted it.
  bool back_from_sleep() {
    lock.lock();
    bool counted = asleep.get() == 0;
    const bool wanted = injected.get() != nullptr || (Bug == bug::fixed && dump.load(acquire) == requested);
    if (!counted && wanted) {
      count_in();
      counted = true;
    }
    lock.unlock();
    return counted;
  }
  void submit() {
    lock.lock();
    injected.set(tasks.make(1));
    lock.unlock();
    if (awake.fetch_add(0, seq_cst) >= workers) return;
    lock.lock();
    const bool wake = asleep.get() != 0;
    if (wake) count_in();
    lock.unlock();
    if (wake) sleeper.unpark();
  }
  void count_in() {
    asleep.set(asleep.get() - 1);
    awake.fetch_add(1, seq_cst);
  }

  task_set<1> tasks;
  mutex lock;
  cell<task*> injected{nullptr};
  cell<int> asleep{0};  ///< how often the one worker stands in the list
  atomic<std::uint32_t> awake{workers};
  atomic<dump_state> dump{none};
  parker sleeper;
};

const bool added[] = {
    add_case<parked_twice<bug::seeded>>({
        .name = "corpus/S15_parked_twice",
        .property = "a worker that was woken for a dump is woken for a task, too: work ‖ dump, submit",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<parked_twice<bug::fixed>>({
        .name = "corpus/S15_fixed_counted_in",
        .property = "a worker that was woken for a dump is woken for a task, too: work ‖ dump, submit",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model::corpus
