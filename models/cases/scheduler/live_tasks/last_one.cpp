// SPDX-License-Identifier: MIT
// How many tasks there are, when the last processor is given up.
#include <array>
#include <mutex>

#include "oracle.hpp"
#include "runq/protocol/deadlock.hpp"
#include "runq/protocol/live_tasks.hpp"
#include "scenario.hpp"
#include "waiting.hpp"

namespace runq::model {
namespace {

// Tasks are started and end on several processors and outside, while machines give their processors up: the
// machine that gives up the last one asks how many tasks there are, and the answer is exact.

// A scheduler in small: processors that machines hold, and the lock under which they are handed out.
class processors : public scenario {
 protected:
  /// Under the lock, and with no processor held: the question.
  void ask() {
    const std::uint64_t live = tasks.count([this](auto&& f) {
      for (const auto& tally : tallies) f(tally);
    });
    require(live == alive.get(), "the count of tasks is wrong although no task runs");
    answers.set(answers.get() + 1);
  }
  /// The machine gives up its processor, after `change` tasks more.
  void give_up(std::uint64_t change) {
    const std::lock_guard guard(lock);
    alive.set(alive.get() + change);
    held.set(held.get() - 1);
    if (held.get() == 0) ask();
  }
  /// A thread outside that has started a task asks, as wait() does.
  void ask_if_idle(std::uint64_t change) {
    const std::lock_guard guard(lock);
    alive.set(alive.get() + change);
    if (held.get() == 0) ask();
  }

  live_tasks<atomics> tasks;
  std::array<task_tally<atomics>, 2> tallies;
  mutex lock;
  cell<int> held{2};             // under the lock: processors in the hands of machines
  cell<std::uint64_t> alive{0};  // under the lock: tasks, by hand
  cell<int> answers{0};          // under the lock
};

constexpr std::uint64_t one_less = ~std::uint64_t{0};

// Machine: starts two tasks, and gives up its processor ‖ machine: takes one of them as soon as it is queued, runs it
// to its end, and gives up its own. The sum over both processors is what counts: the second one has ended more tasks
// than it has started.
struct ends_elsewhere final : processors {
  void thread(unsigned index) override {
    if (index == 0) {
      tallies[0].start();
      tallies[0].start();
      queued.store(1, std::memory_order::release);
      give_up(2);
    } else {
      await([this] { return queued.load(std::memory_order::acquire) != 0; });
      tallies[1].end();
      give_up(one_less);
    }
  }
  void finish() override {
    require(answers.get() == 1, "the number of tasks was not asked for exactly once");
    require(alive.get() == 1, "the number of tasks at the end is wrong");
  }
  atomic<int> queued{0};
};

// A processor goes from machine to machine. Machine: starts a task and gives the processor up ‖ machine: has given up
// its own, takes that one, starts a task, and ends both.
struct processor_moves final : processors {
  processor_moves() { held.set(1); }
  void thread(unsigned index) override {
    if (index == 0) {
      tallies[0].start();
      {
        const std::lock_guard guard(lock);
        alive.set(alive.get() + 1);
        given_up.set(true);
        // The other machine has it from here on.
      }
      return;
    }
    bool has_it = false;
    {
      const std::lock_guard guard(lock);
      has_it = given_up.get();
      if (!has_it) held.set(0);
    }
    if (!has_it) return;
    tallies[0].start();
    tallies[0].end();
    tallies[0].end();
    give_up(one_less);
  }
  void finish() override {
    require(answers.get() == (held.get() == 0 && alive.get() == 0 ? 1 : 0),
            "the number of tasks was not asked for exactly once");
  }
  cell<bool> given_up{false};  // under the lock
};

// Two threads outside start a task each ‖ machine: ends a task that was there before, and gives up the last processor.
struct started_outside final : processors {
  started_outside() {
    held.set(1);
    tasks.start_outside();
    alive.set(1);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      tallies[0].end();
      give_up(one_less);
    } else {
      {
        // What makes the task known counts it.
        const std::lock_guard guard(lock);
        tasks.start_outside();
        alive.set(alive.get() + 1);
      }
      ask_if_idle(0);
    }
  }
  void finish() override {
    require(answers.get() >= 1 && alive.get() == 2, "no thread has asked for the number of tasks");
  }
};

// Two threads outside count at once, with locks of their own, before either takes the lock of the processors.
struct started_outside_at_once final : processors {
  started_outside_at_once() { held.set(0); }
  void thread(unsigned) override {
    tasks.start_outside();
    const std::lock_guard guard(lock);
    alive.set(alive.get() + 1);
    if (alive.get() == 2) ask();
  }
  void finish() override { require(answers.get() == 1, "no thread has asked for the number of tasks"); }
};

// The end of a run destroys the tasks that are left, while a thread outside starts one, which stays.
struct destroyed final : processors {
  destroyed() {
    held.set(0);
    tallies[0].start();
    tallies[1].start();
    alive.set(2);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      tasks.destroy(2);
      const std::lock_guard guard(lock);
      alive.set(alive.get() - 2);
      over.set(true);
      if (come.get()) ask();
    } else {
      tasks.start_outside();
      const std::lock_guard guard(lock);
      alive.set(alive.get() + 1);
      come.set(true);
      if (over.get()) ask();
    }
  }
  void finish() override { require(answers.get() == 1 && alive.get() == 1, "the count after the end is wrong"); }
  cell<bool> over{false};  // under the lock
  cell<bool> come{false};  // likewise
};

// A thread outside gets a handle, starts a task, and gives the handle up, while the last machine asks whether the tasks
// that are left wait for ever.

// Machine: its task ends, and it gives up the last processor ‖ a thread outside: starts a task
// by a handle.
class outside_vs_question final : public scenario {
 public:
  // -- what deadlock_question asks of its host --

  void ask_if_idle() {
    const std::lock_guard guard(lock);
    if (held.get() == 0) check_deadlock();
  }
  [[nodiscard]] bool calls_in_progress() const { return false; }
  [[nodiscard]] bool timers_pending() const { return false; }
  [[nodiscard]] bool anything_queued() const { return queued.load(std::memory_order::relaxed) != 0; }
  [[nodiscard]] bool stop_possible() const { return false; }
  template <class F>
  void for_each_kernel_wait(F&&) const {}

  outside_vs_question() { tally.start(); }
  void thread(unsigned index) override {
    if (index == 0) {
      tally.end();
      const std::lock_guard guard(lock);
      held.set(0);
      check_deadlock();
    } else {
      question.attach();
      tasks.start_outside();
      queued.store(1, std::memory_order::relaxed);
      question.detach();
    }
  }
  void finish() override { require(reported.get() == 0, "a deadlock is reported beside a task that is being started"); }

 private:
  void check_deadlock() {
    if (tasks.count([this](auto&& f) { f(tally); }) == 0) return;
    if (question.all_wait()) reported.set(reported.get() + 1);
  }

  deadlock_question<outside_vs_question, atomics> question{*this};
  live_tasks<atomics> tasks;
  task_tally<atomics> tally;
  mutex lock;
  cell<int> held{1};      // under the lock: processors in the hands of machines
  cell<int> reported{0};  // under the lock: deadlocks that were reported
  atomic<int> queued{0};  // 1: the task is in the global queue
};

const bool added[] = {
    add_case<ends_elsewhere>({
        .name = "live_tasks/ends_elsewhere",
        .property = "a task that ends on another processor than it was started on is counted once",
        .threads = 2,
        .kept_for = "a task changes its processor",
    }),
    add_case<processor_moves>({
        .name = "live_tasks/processor_moves",
        .property = "no task is lost when a processor goes from one machine to another",
        .threads = 2,
        .kept_for = "the processor changes its machine",
    }),
    add_case<started_outside>({
        .name = "live_tasks/started_outside",
        .property = "tasks that threads outside start are counted before the host can ask for them",
        .threads = 3,
        .kept_for = "a thread outside starts the task",
    }),
    add_case<started_outside_at_once>({
        .name = "live_tasks/started_outside_at_once",
        .property = "two threads outside that start tasks at once are both counted",
        .threads = 2,
    }),
    add_case<destroyed>({
        .name = "live_tasks/destroyed",
        .property = "tasks that the end of a run destroys are not counted any more; one that is started meanwhile is",
        .threads = 2,
    }),
    add_case<outside_vs_question>({
        .name = "live_tasks/outside_vs_question",
        .property = "no deadlock is reported while a thread outside gets a handle and starts a task",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model
