// SPDX-License-Identifier: MIT
// Work for which no idle worker comes, and a processor that no worker has: S15 to S17.
#include <cstdint>

#include "corpus.hpp"
#include "waiting.hpp"

namespace runq::model::corpus {
namespace {

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

// S17: a wake-up takes an idle processor while the world is being stopped, and that processor never stops.
//
// Source: golang/go#42237: programs hung while the garbage collector stopped the world. A timer's wake-up had become a
// place where a running goroutine starts a machine, and goroutines can be stopped anywhere.
//
//   1. goroutine, on processor 0: wants a machine woken: takes processor 1 from the idle ones, for that machine to hold
//   2. collector: stop the world: asks all to stop; no processor is idle, so it waits for 0 and 1 to report
//   3. goroutine: is preempted before it has handed 1 on: its machine reports 0 as stopped, and waits for the restart
//   4. processor 1 belongs to a goroutine that does not run: no machine reports it; the collector waits for ever
// Fix: no preemption from taking a processor to handing it to a machine that will stop with it. (runq's park_protocol
// has no such gap: between taking an idle processor and handing it over it runs no code of the program.) Caught by:
// exact (deadlock); Relacy, bounded and random (livelock: its threads spin).

// Goroutine on processor 0: wake a machine, go on until it is stopped ‖ collector: stop the world, start it again ‖
// machine, asleep: woken with processor 1, it goes on until it is stopped.
template <bug Bug>
struct processor_in_limbo final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      wake_one();
      go_on_until_stopped();
    } else if (index == 1) {
      stop_the_world();
    } else {
      sleeper.park();
      if (handed.get()) go_on_until_stopped();
    }
  }
  void finish() override { require(running.get() == 0, "the world went on while it was stopped"); }

  void wake_one() {
    lock.lock();
    const bool took = idle.get();
    idle.set(false);
    lock.unlock();
    if (!took) return;
    if (Bug == bug::seeded && stopping.load(acquire) != 0) report_stopped();
    handed.set(true);
    sleeper.unpark();
  }
  void go_on_until_stopped() {
    if (restarted.load(acquire) != 0) return;
    await([this] { return stopping.load(acquire) != 0; });
    report_stopped();
  }
  void report_stopped() {
    lock.lock();
    running.set(running.get() - 1);
    const bool last = running.get() == 0;
    lock.unlock();
    if (last) collector.unpark();
    await([this] { return restarted.load(acquire) != 0; });
  }
  void stop_the_world() {
    lock.lock();
    stopping.store(1, release);
    const bool took = idle.get();
    idle.set(false);
    if (took) running.set(running.get() - 1);
    lock.unlock();
    collector.park();
    restarted.store(1, release);
    // No thread has woken the machine, as `handed` says: this only lets its thread end.
    if (took) sleeper.unpark();
  }

  mutex lock;
  cell<bool> idle{true};  ///< processor 1
  cell<int> running{2};   ///< processors that have not stopped
  cell<bool> handed{false};
  atomic<int> stopping{0};
  atomic<int> restarted{0};
  parker collector;
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
    add_case<processor_in_limbo<bug::seeded>>({
        .name = "corpus/S17_processor_in_limbo",
        .property = "the world stops although a machine is being woken: wake-up ‖ stop the world ‖ the woken machine",
        .threads = 3,
        .seeded_bug = true,
    }),
    add_case<processor_in_limbo<bug::fixed>>({
        .name = "corpus/S17_fixed_no_preemption",
        .property = "the world stops although a machine is being woken: wake-up ‖ stop the world ‖ the woken machine",
        .threads = 3,
    }),
};

}  // namespace
}  // namespace runq::model::corpus
