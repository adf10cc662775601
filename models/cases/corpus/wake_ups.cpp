// SPDX-License-Identifier: MIT
// Wake-ups that are lost on their way to a worker that goes to sleep: S13 and S14.
#include "corpus.hpp"
#include "waiting.hpp"

namespace runq::model::corpus {
namespace {

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

// S14: a thread's sleeping state (idle, notified, asleep) that an unpark fails to set, or that a park overwrites.
//
// Source: tokio#459, #525, #528; the second also in Rust's standard library: rust#53366, #54174. #525 held the first to
// be harmless, as all operations on the state are seq_cst. That is so only if the work is seq_cst, too: a
// compare-exchange that fails is no write, so what the unpark's caller did before it is published by nothing.
//
// corpus/S14_unpark_gives_up, a worker that waits for two submitters:
//   1. worker: asleep
//   2. first submitter: its work; tries idle → notified: finds asleep; wants the mutex next
//   3. second submitter: asleep → notified, wakes the worker, which goes back to idle
//   4. first submitter: gets the mutex, tries asleep → notified: finds idle, and gives up
//   5. worker: nothing makes the first one's work happen before its look: it may not see it, and sleeps for ever
// Fix: unpark exchanges the state for "notified", whatever it was.
//
// corpus/S14_park_overwrites, one submitter: unpark, work, unpark:
//   1. worker: tries idle → asleep, finds notified, by the first unpark
//   2. submitter: its work; the second unpark: notified as before
//   3. worker: stores idle, and has not read what the second unpark wrote: need not see the work, and sleeps for ever
// Fix: park exchanges the state for "idle".
// Caught by: exact, both (deadlock); Relacy, both, bounded with three pre-emptions and random (livelock: its threads
// spin).

template <bug Unpark, bug Park>
class park_state {
 public:
  void park() {
    int found = notified;
    if (state_.compare_exchange_strong(found, idle, seq_cst, seq_cst)) return;
    mutex_.lock();
    found = idle;
    if (!state_.compare_exchange_strong(found, asleep, seq_cst, seq_cst)) {
      if (Park == bug::seeded) {
        state_.store(idle, seq_cst);
      } else {
        state_.exchange(idle, seq_cst);
      }
    } else {
      for (;;) {
        awake_.wait(mutex_);
        found = notified;
        if (state_.compare_exchange_strong(found, idle, seq_cst, seq_cst)) break;
      }
    }
    mutex_.unlock();
  }
  void unpark() {
    if (Unpark == bug::seeded) {
      int found = idle;
      while (found != asleep) {
        // Writes even if the state is `notified` already: a mere read would not publish the caller's work.
        if (state_.compare_exchange_strong(found, notified, seq_cst, seq_cst)) return;
      }
      mutex_.lock();
      found = asleep;
      if (state_.compare_exchange_strong(found, notified, seq_cst, seq_cst)) awake_.notify_all();
      mutex_.unlock();
      return;
    }
    if (state_.exchange(notified, seq_cst) != asleep) return;
    mutex_.lock();
    awake_.notify_all();
    mutex_.unlock();
  }

 private:
  static constexpr int idle = 0;
  static constexpr int notified = 1;
  static constexpr int asleep = 2;

  atomic<int> state_{idle};
  mutex mutex_;
  condition_variable awake_;
};

// Worker: park until both works are there ‖ two submitters: work, unpark.
template <bug Bug>
struct unpark_gives_up final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      while (first.load(acquire) == 0 || second.load(acquire) == 0) worker.park();
    } else {
      (index == 1 ? first : second).store(1, release);
      worker.unpark();
    }
  }

  atomic<int> first{0};
  atomic<int> second{0};
  park_state<Bug, bug::fixed> worker;
};

// Worker: park until the work is there ‖ submitter: unpark, work, unpark.
template <bug Bug>
struct park_overwrites final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      while (work.load(acquire) == 0) worker.park();
    } else {
      worker.unpark();
      work.store(1, release);
      worker.unpark();
    }
  }

  atomic<int> work{0};
  park_state<bug::fixed, Bug> worker;
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
    add_case<unpark_gives_up<bug::seeded>>({
        .name = "corpus/S14_unpark_gives_up",
        .property = "a worker sees the work of all threads that have unparked it: park ‖ work, unpark ‖ work, unpark",
        .threads = 3,
        .seeded_bug = true,
    }),
    add_case<unpark_gives_up<bug::fixed>>({
        .name = "corpus/S14_fixed_unpark_exchanges",
        .property = "a worker sees the work of all threads that have unparked it: park ‖ work, unpark ‖ work, unpark",
        .threads = 3,
    }),
    add_case<park_overwrites<bug::seeded>>({
        .name = "corpus/S14_park_overwrites",
        .property = "a worker sees the work of all threads that have unparked it: park ‖ unpark, work, unpark",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<park_overwrites<bug::fixed>>({
        .name = "corpus/S14_fixed_park_exchanges",
        .property = "a worker sees the work of all threads that have unparked it: park ‖ unpark, work, unpark",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model::corpus
