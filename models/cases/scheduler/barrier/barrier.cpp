// SPDX-License-Identifier: MIT
// Tasks come to a barrier and wait there for the others, or wait for a latch.
#include "runq/barrier.hpp"

#include "scenario.hpp"
#include "task_on_thread.hpp"
#include "waking_policy.hpp"

namespace runq::model {
namespace {

// Tasks come to a barrier and wait there for the others, phase by phase.

using mutex_type = runq::detail::mutex_core<thread_policy>;
using barrier_type = runq::detail::barrier_core<runq::detail::condition_core<thread_policy>, thread_policy::atomics>;

constexpr unsigned most_tasks = 3;
constexpr unsigned most_phases = 2;

/// A barrier, its mutex, and what the tasks do before they come.
struct place {
  explicit place(unsigned tasks) : barrier(tasks) {}
  mutex_type changes;
  barrier_type barrier;
  cell<int> did[most_phases][most_tasks];
};

// A task that does something and comes, as barrier::arrive_and_wait() does. It has a thread of its own.
class comer {
 public:
  comer(place& of, unsigned number) : of_(of), number_(number) {}
  void comes() {
    of_.did[phases][number_].set(1);
    take_mutex();
    require(!of_.barrier.deserted(), "a barrier to which tasks belong is said to have none");
    if (of_.barrier.comes()) {
      ++was_last;
    } else {
      const std::uint64_t phase = of_.barrier.phase();
      bool asked_to_stop = false;
      while (!of_.barrier.is_over(phase)) {
        if (asked_to_stop) {
          of_.barrier.goes_back();
          ++called_off;
          return unlock(of_.changes);
        }
        asked_to_stop = !is_notified();
        take_mutex();
      }
    }
    unlock(of_.changes);
    ++phases;
  }
  /// Requires that the first `tasks` tasks have done their work of the phase that was the last one for this task.
  void sees(unsigned tasks) const {
    for (unsigned i = 0; i != tasks; ++i) {
      require(of_.did[phases - 1][i].get() == 1, "a task goes on before all have come, or does not see what they did");
    }
  }
  /// Withdraws its first wait.
  void call_back() {
    if (of_.barrier.phase_over().withdraw(waits_[0].node)) thread_policy::wake(&waits_[0].task);
  }
  unsigned phases = 0;      // that it has seen the end of
  unsigned was_last = 0;    // in how many of them
  unsigned called_off = 0;  // how often its wait was withdrawn

 private:
  void take_mutex() { lock(of_.changes, turns_[taken_++]); }
  [[nodiscard]] bool is_notified() {
    require(waited_ != most_phases, "a task that was notified waits on");
    auto& wait = waits_[waited_++];
    if (of_.barrier.phase_over().wait(wait.node, of_.changes)) wait.until_woken();
    return wait.node.ok.get();
  }
  place& of_;
  unsigned number_;
  unsigned taken_ = 0;
  unsigned waited_ = 0;
  one_wait<runq::detail::waiter<thread_policy>> turns_[2 * most_phases];
  one_wait<runq::detail::revocable_waiter<thread_policy>> waits_[most_phases];
};

// All tasks come, phase by phase.
template <unsigned Tasks, unsigned Phases>
struct all_come final : scenario {
  void thread(unsigned index) override {
    for (unsigned i = 0; i != Phases; ++i) {
      tasks[index].comes();
      tasks[index].sees(Tasks);
    }
  }
  void finish() override {
    unsigned last = 0;
    for (const comer& task : tasks) last += task.was_last;
    require(last == Phases, "in some phase no task, or more than one, was the last");
  }
  place here{Tasks};
  comer tasks[most_tasks]{comer(here, 0), comer(here, 1), comer(here, 2)};
};

// Two tasks come. The first one's wait is withdrawn; if it has not come then, it comes once more.
struct withdraw_vs_come final : scenario {
  void thread(unsigned index) override {
    if (index == 2) return tasks[0].call_back();
    tasks[index].comes();
    if (tasks[index].called_off == 1) tasks[index].comes();
    tasks[index].sees(2);
  }
  void finish() override {
    require(tasks[0].phases == 1 && tasks[1].phases == 1 && tasks[0].was_last + tasks[1].was_last == 1,
            "no task was the last, or both");
    require(tasks[1].called_off == 0, "a task is told that its wait was withdrawn although another task's was");
  }
  place here{2};
  comer tasks[2]{comer(here, 0), comer(here, 1)};
};

// Two of three tasks come ‖ the third one drops out, as barrier::arrive_and_drop() does.
struct drop_vs_come final : scenario {
  void thread(unsigned index) override {
    if (index == 2) {
      here.did[0][2].set(1);
      lock(here.changes, turn);
      here.barrier.drops();
      return unlock(here.changes);
    }
    tasks[index].comes();
    tasks[index].sees(3);
  }
  void finish() override {
    require(tasks[0].was_last + tasks[1].was_last <= 1, "two tasks were the last");
    here.barrier.drops();
    require(!here.barrier.deserted(), "a barrier to which a task belongs is said to have none");
    here.barrier.drops();
    require(here.barrier.deserted(), "a barrier to which no task belongs is said to have some");
  }
  place here{3};
  comer tasks[2]{comer(here, 0), comer(here, 1)};
  one_wait<runq::detail::waiter<thread_policy>> turn;
};

// Tasks wait for a latch that others count down.

using latch_type = runq::detail::latch_core<waking_policy>;

// A task that waits for a latch, as wait_group's awaiter does. The scenario says what it does then.
template <class Scenario>
class waiting final : public sleeping_task {
 public:
  static void start(Scenario& s) {
    waiting& self = make_frame<waiting>(s);
    self.node_.who.set(&self);
    // After enlist() has returned true the frame may be destroyed.
    if (s.latch->done() || !s.latch->enlist(self.node_)) self.resume();
  }
  explicit waiting(Scenario& s) : of_(s) {}
  void resume() override {
    Scenario& of = of_;
    destroy_frame(*this);
    of.waited();
  }

 private:
  Scenario& of_;
  runq::detail::waiter<waking_policy> node_;
};

// A task waits for a latch that begins with 3, and destroys it then ‖ a thread counts it down by 2 ‖ a thread counts it
// down by 1.
struct latch_opens final : scenario {
  latch_opens() { require(latch->begins_with(3), "3 is no count for a latch"); }
  void thread(unsigned index) override {
    if (index == 2) return waiting<latch_opens>::start(*this);
    did[index].set(1);
    require(latch->count_down(index == 0 ? 2 : 1), "a latch is said to be below 0 that is not");
  }
  void finish() override { require(through == 1, "a task waits for ever"); }
  void waited() {
    for (const cell<int>& d : did) require(d.get() == 1, "a task that has waited does not see what was done");
    ++through;
    destroy_frame(*latch);
  }

  latch_type* latch = &make_frame<latch_type>();
  cell<int> did[2]{cell<int>(0), cell<int>(0)};
  int through = 0;
};

// Two tasks wait ‖ two threads count down a latch that begins with 2.
struct latch_opens_for_all final : scenario {
  latch_opens_for_all() { require(latch->begins_with(2), "2 is no count for a latch"); }
  void thread(unsigned index) override {
    if (index >= 2) return waiting<latch_opens_for_all>::start(*this);
    did[index].set(1);
    require(latch->count_down(1), "a latch is said to be below 0 that is not");
  }
  void finish() override {
    require(through.load(std::memory_order::relaxed) == 2, "a task waits for ever");
    require(latch->done(), "a latch is not open although tasks have gone on");
    destroy_frame(*latch);
  }
  void waited() {
    for (const cell<int>& d : did) require(d.get() == 1, "a task that has waited does not see what was done");
    through.fetch_add(1, std::memory_order::relaxed);
  }

  latch_type* latch = &make_frame<latch_type>();
  cell<int> did[2]{cell<int>(0), cell<int>(0)};
  atomic<int> through{0};
};

// A latch that begins with 1 is counted down on two threads.
struct latch_below_zero final : scenario {
  latch_below_zero() {
    require(!refuses.begins_with(-1), "a latch begins with less than 0");
    require(latch.begins_with(1), "1 is no count for a latch");
  }
  void thread(unsigned index) override { counted[index] = latch.count_down(1); }
  void finish() override {
    require(counted[0] != counted[1], "a latch is below 0, and no thread, or not one, is told");
  }

  latch_type refuses;
  latch_type latch;
  bool counted[2] = {};
};

const bool added[] = {
    add_case<all_come<2, 1>>({
        .name = "barrier/two_come",
        .property = "two tasks go on when both have come, and each sees what the other did; one of them was the last",
        .threads = 2,
        .kept_for = "the smallest program",
    }),
    add_case<all_come<3, 1>>({
        .name = "barrier/three_come",
        .property = "three tasks go on when all have come, and each sees what the others did; one of them was the last",
        .threads = 3,
        .kept_for = "two tasks wait",
    }),
    add_case<all_come<2, 2>>({
        .name = "barrier/two_phases",
        .property = "no task begins a phase before both have ended the last, and none waits for a phase that is over",
        .threads = 2,
    }),
    add_case<withdraw_vs_come>({
        .name = "barrier/withdraw_vs_come",
        .property =
            "a task whose wait is withdrawn has seen the end of the phase, or has not come: come ‖ come ‖ withdraw",
        .threads = 3,
    }),
    add_case<drop_vs_come>({
        .name = "barrier/drop_vs_come",
        .property =
            "a phase ends when one task has left the barrier for good and the others have come: come ‖ come ‖ drop",
        .threads = 3,
    }),
    add_case<latch_opens>({
        .name = "barrier/latch_opens",
        .property = "a task that has waited for a latch sees what was done, and may destroy it: two threads count down",
        .threads = 3,
    }),
    add_case<latch_opens_for_all>({
        .name = "barrier/latch_opens_for_all",
        .property = "a latch lets all tasks go on that wait for it, and they see what was done: two threads count down",
        .threads = 4,
        .kept_for = "two tasks wait, four threads",
    }),
    add_case<latch_below_zero>({
        .name = "barrier/latch_below_zero",
        .property = "of two threads that count down a latch of 1, one is told that it is below 0",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model
