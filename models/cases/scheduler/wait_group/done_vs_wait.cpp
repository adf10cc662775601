// SPDX-License-Identifier: MIT
// Tasks wait until others are done; the group is destroyed as soon as they have waited.
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
  static waiting& wait(Scenario& s) {
    waiting& self = make_frame<waiting>(&s, [](void* to) { static_cast<Scenario*>(to)->waited(); });
    self.node_.who.set(&self);
    // What the awaiter does. After enlist() has returned true the frame may be destroyed.
    if (s.group->done() || !s.group->enlist(self.node_)) self.resume();
    return self;
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
  done_vs_wait() { add(*group, Tasks); }
  void thread(unsigned index) override {
    if (index < Waiters) {
      waiting::wait(*this);
    } else {
      results[index - Waiters].value.set(1);
      add(*group, -1);
    }
  }
  void finish() override {
    require(through == Waiters, "a task waits for ever");
    if (Waiters != 1) destroy_frame(*group);
  }

  void waited() {
    for (result& r : results) require(r.value.get() == 1, "a task that has waited does not see what was done");
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
struct two_begin_to_wait final : scenario {
  two_begin_to_wait() {
    add(*group, 1);
    waiting::wait(*this);
  }
  void thread(unsigned) override { waiting::wait(*this); }
  void finish() override {
    require(through == 0, "a task did not wait");
    add(*group, -1);
    require(through == 3, "a task waits for ever");
    destroy_frame(*group);
  }

  void waited() { ++through; }

  group_type* group = &make_frame<group_type>();
  unsigned through = 0;
};

// Twice with one group: wait; when that is over, count 1 again, and wait again ‖ done ‖ the second done, when told.
struct used_again final : scenario {
  used_again() { add(*group, 1); }
  void thread(unsigned index) override {
    if (index == 0) {
      waiting::wait(*this);
    } else {
      const int round = static_cast<int>(index);
      await([&] { return begun.load(std::memory_order::acquire) >= round; });
      result.set(round);
      add(*group, -1);
    }
  }
  void finish() override { require(through == 2, "a task waits for ever"); }

  void waited() {
    require(result.get() == ++through, "a task that has waited does not see what was done");
    if (through == 2) return destroy_frame(*group);
    add(*group, 1);
    begun.store(2, std::memory_order::release);
    waiting::wait(*this);
  }

  group_type* group = &make_frame<group_type>();
  atomic<int> begun{1};
  cell<int> result{0};
  int through = 0;
};

// A task waits. The last task that is waited for is done ‖ a thread counts 1 again, too early or just in time. If the
// group does not say that it was too early, the thread waits, and is done.
struct used_again_too_early final : scenario {
  used_again_too_early() {
    add(*group, 1);
    waiting::wait(*this);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      add(*group, -1);
      return;
    }
    const counting what = group->add(1);
    told = what == counting::reused;
    require(told || what == counting::done, "the group reports another error than the use that was too early");
    if (told) return;
    waiting::wait(*this);
    result.set(2);
    add(*group, -1);
  }
  void finish() override {
    require(through == (told ? 1 : 2), "a task waits for ever, and no caller was told why");
    destroy_frame(*group);
  }

  void waited() {
    if (++through == 2) require(result.get() == 2, "a wait has returned before what it waits for was done");
  }

  group_type* group = &make_frame<group_type>();
  cell<int> result{0};
  bool told = false;
  int through = 0;
};

// As used_again_too_early, but a thread that was told that it was too early goes on all the same. It may wait for ever;
// nothing else may break.
struct used_after_the_error final : scenario {
  used_after_the_error() {
    add(*group, 1);
    waiting::wait(*this);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      add(*group, -1);
      return;
    }
    told = group->add(1) == counting::reused;
    second = &waiting::wait(*this);
    add(*group, -1);
  }
  void finish() override {
    require(through == 2 || (through == 1 && told), "a task waits for ever, and no caller was told why");
    destroy_frame(*group);
    if (through == 1) destroy_frame(*second);
  }

  void waited() { ++through; }

  group_type* group = &make_frame<group_type>();
  waiting* second = nullptr;  // destroyed when it has finished
  bool told = false;
  int through = 0;
};

const bool added[] = {
    add_case<done_vs_wait<1, 1>>({
        .name = "wait_group/done_vs_wait",
        .property = "a waiting task goes on, sees what was done, and may destroy the group at once",
        .threads = 2,
        .kept_for = "the smallest program",
    }),
    add_case<done_vs_wait<1, 2>>({
        .name = "wait_group/two_tasks",
        .property = "a task that waits for two tasks sees what both did, and may destroy the group at once",
        .threads = 3,
        .mutants = {{"add_relaxed", "wait_group.add", std::memory_order::relaxed},
                    {"unlock_relaxed", "wait_group.unlock", std::memory_order::relaxed},
                    {"wake_lock_relaxed", "wait_group.wake.lock", std::memory_order::relaxed},
                    {"peek_relaxed", "wait_group.wait.peek", std::memory_order::relaxed}},
        .kept_for = "two tasks are waited for",
    }),
    add_case<done_vs_wait<2, 1>>({
        .name = "wait_group/two_waiters",
        .property = "both waiting tasks go on, and see what was done",
        .threads = 3,
        .kept_for = "both waiters wait at once",
    }),
    add_case<two_begin_to_wait>({
        .name = "wait_group/two_begin_to_wait",
        .property = "tasks that begin to wait at the same time are all woken",
        .threads = 2,
        .mutants = {{"lock_relaxed", "wait_group.lock", std::memory_order::relaxed}},
        .kept_for = "two tasks begin to wait at once",
    }),
    add_case<used_again>({
        .name = "wait_group/used_again",
        .property = "a group can be used again when all waits have returned",
        .threads = 3,
    }),
    add_case<used_again_too_early>({
        .name = "wait_group/used_again_too_early",
        .property = "a task that counts again before the waiters are woken is told so: done ‖ add, wait, done",
        .threads = 2,
    }),
    add_case<used_after_the_error>({
        .name = "wait_group/used_after_the_error",
        .property = "after a use that is too early still only one thread at a time uses the list: done ‖ add, wait",
        .threads = 2,
        .mutants = {{"wake_unlock_relaxed", "wait_group.wake.unlock", std::memory_order::relaxed}},
    }),
};

}  // namespace
}  // namespace runq::model
