// SPDX-License-Identifier: MIT
// Tasks wait until others are done; the group is gone as soon as they have waited.
#include <array>

#include "group_model.hpp"
#include "scenario.hpp"
#include "waking_policy.hpp"

namespace runq::model {
namespace {

using group_type = runq::detail::wait_group_core<waking_policy>;

// A task that waits for a group once.
class waiting final : public sleeping_task {
 public:
  template <class Scenario>
  static void wait(Scenario& s) {
    waiting& self = make_frame<waiting>(&s, [](void* to) { static_cast<Scenario*>(to)->waited(); });
    self.node_.who.set(&self);
    // As the awaiter does. After enlist() has returned true the frame may be gone.
    if (s.group->done() || !s.group->enlist(self.node_)) self.resume();
  }
  waiting(void* scenario, void (*then)(void*)) : scenario_(scenario), then_(then) {}

  void resume() override {
    void* const scenario = scenario_;
    void (*const then)(void*) = then_;
    destroy_frame(*this);
    then(scenario);
  }

 private:
  void* scenario_;
  void (*then_)(void*);
  runq::detail::waiter<waking_policy> node_;
};

// Waiters: wait; the last one destroys the group ‖ tasks: write their results, are done.
template <unsigned Waiters, unsigned Tasks>
struct done_vs_wait final : scenario {
  done_vs_wait() { group->add(Tasks); }
  void thread(unsigned index) override {
    if (index < Waiters) {
      waiting::wait(*this);
    } else {
      results[index - Waiters].value.set(1);
      group->add(-1);
    }
  }
  void finish() override {
    require(through == Waiters, "somebody waits for ever");
    if (Waiters != 1) destroy_frame(*group);
  }

  void waited() {
    for (result& r : results) require(r.value.get() == 1, "who has waited does not see what was done");
    ++through;
    if (Waiters == 1) destroy_frame(*group);
  }

  struct result {
    cell<int> value;
  };
  group_type* group = &make_frame<group_type>();
  std::array<result, Tasks> results;
  unsigned through = 0;
};

// A task waits. Two more join it, at the same time.
struct joining_waiters final : scenario {
  joining_waiters() {
    group->add(1);
    waiting::wait(*this);
  }
  void thread(unsigned) override { waiting::wait(*this); }
  void finish() override {
    require(through == 0, "somebody did not wait");
    group->add(-1);
    require(through == 3, "somebody waits for ever");
    destroy_frame(*group);
  }

  void waited() { ++through; }

  group_type* group = &make_frame<group_type>();
  unsigned through = 0;
};

// Twice with one group: wait; when that is over, count 1 again, and wait again ‖ done ‖ the second done, when told.
struct used_again final : scenario {
  used_again() { group->add(1); }
  void thread(unsigned index) override {
    if (index == 0) {
      waiting::wait(*this);
    } else {
      const int round = static_cast<int>(index);
      await([&] { return begun.load(std::memory_order::acquire) >= round; });
      result.set(round);
      group->add(-1);
    }
  }
  void finish() override { require(through == 2, "somebody waits for ever"); }

  void waited() {
    require(result.get() == ++through, "who has waited does not see what was done");
    if (through == 2) return destroy_frame(*group);
    group->add(1);
    begun.store(2, std::memory_order::release);
    waiting::wait(*this);
  }

  group_type* group = &make_frame<group_type>();
  atomic<int> begun{1};
  cell<int> result{0};
  int through = 0;
};

const bool added[] = {
    add_case<done_vs_wait<1, 1>>({
        .name = "wait_group/done_vs_wait",
        .property = "who waits goes on, sees what was done, and may destroy the group at once",
        .threads = 2,
        .quick = {.random = 20'000, .bound = 4},
    }),
    add_case<done_vs_wait<1, 2>>({
        .name = "wait_group/two_tasks",
        .property = "who waits for two tasks sees what both did, and may destroy the group at once",
        .threads = 3,
        .quick = {.random = 20'000, .bound = 3},
        .mutants = {{"add_relaxed", "wait_group.add", std::memory_order::relaxed},
                    {"unlock_relaxed", "wait_group.unlock", std::memory_order::relaxed},
                    {"wake_lock_relaxed", "wait_group.wake.lock", std::memory_order::relaxed},
                    {"peek_relaxed", "wait_group.wait.peek", std::memory_order::relaxed}},
    }),
    add_case<done_vs_wait<2, 1>>({
        .name = "wait_group/two_waiters",
        .property = "both who wait go on, and see what was done",
        .threads = 3,
        .quick = {.random = 20'000, .bound = 2},
    }),
    add_case<joining_waiters>({
        .name = "wait_group/joining_waiters",
        .property = "tasks that join those who wait, at the same time, are all woken",
        .threads = 2,
        .quick = {.random = 20'000, .bound = 3},
        .mutants = {{"lock_relaxed", "wait_group.lock", std::memory_order::relaxed}},
    }),
    add_case<used_again>({
        .name = "wait_group/used_again",
        .property = "a group is as new when all have waited",
        .threads = 3,
        .quick = {.random = 20'000, .bound = 3},
    }),
};

}  // namespace
}  // namespace runq::model
