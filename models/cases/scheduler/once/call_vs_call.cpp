// SPDX-License-Identifier: MIT
// Tasks call a once, while others call it or ask whether a call has returned.
#include "runq/once.hpp"
#include "scenario.hpp"
#include "task_on_thread.hpp"

namespace runq::model {
namespace {

/// A once, and what its function does.
struct place {
  /// `throwing`: how many calls of the function throw before one returns.
  explicit place(int throwing) : calls_that_throw(throwing) {}
  runq::detail::mutex_core<thread_policy> calls;
  runq::detail::once_core<thread_policy::atomics> core;
  int calls_that_throw;
  cell<int> begun{0};
  cell<int> written{0};
};

// A task that calls the once, as once::call() does.
class caller {
 public:
  explicit caller(place& of) : of_(of) {}
  void call() {
    if (of_.core.done()) return went_on();
    lock(of_.calls, turn_);
    if (of_.core.must_call()) {
      const int before = of_.begun.get();
      of_.begun.set(before + 1);
      if (before < of_.calls_that_throw) {
        threw = true;
        return unlock(of_.calls);
      }
      of_.written.set(1);
      of_.core.returns();
      called = true;
    }
    unlock(of_.calls);
    went_on();
  }
  bool called = false;
  bool threw = false;
  bool returned = false;

 private:
  void went_on() {
    require(of_.written.get() == 1, "a call returns before the function has run");
    returned = true;
  }
  place& of_;
  one_wait<runq::detail::waiter<thread_policy>> turn_;
};

// Tasks call the once, each on a thread of its own.
template <unsigned Callers>
struct callers final : scenario {
  void thread(unsigned index) override { tasks[index].call(); }
  void finish() override {
    unsigned called = 0;
    for (unsigned i = 0; i != Callers; ++i) {
      require(tasks[i].returned, "a call did not return");
      called += tasks[i].called ? 1 : 0;
    }
    require(called == 1 && once.begun.get() == 1, "the function has not run once");
    require(once.core.done(), "the function has run, and the once does not know it");
  }
  place once{0};
  caller tasks[3]{caller(once), caller(once), caller(once)};
};

// Tasks call the once ‖ a thread asks whether a call has returned.
template <unsigned Callers>
struct calls_vs_done final : scenario {
  void thread(unsigned index) override {
    if (index < Callers) {
      tasks[index].call();
    } else if (once.core.done()) {
      require(once.written.get() == 1, "a call is said to have returned, and the function has not run");
    }
  }
  void finish() override {
    unsigned called = 0;
    for (unsigned i = 0; i != Callers; ++i) called += tasks[i].called ? 1 : 0;
    require(called == 1 && once.begun.get() == 1, "the function has not run once");
  }
  place once{0};
  caller tasks[3]{caller(once), caller(once), caller(once)};
};

// Two tasks call the once, each on a thread of its own. The function throws the first time.
struct first_call_throws final : scenario {
  void thread(unsigned index) override { tasks[index].call(); }
  void finish() override {
    require(tasks[0].threw != tasks[1].threw, "the exception has left no call, or both");
    require(tasks[0].called != tasks[1].called, "after a call that threw, no call or two have called the function");
    require(once.begun.get() == 2 && once.core.done(), "the once does not know how often its function has run");
  }
  place once{1};
  caller tasks[2]{caller(once), caller(once)};
};

const bool added[] = {
    add_case<callers<2>>({
        .name = "once/two_calls",
        .property = "the function runs once, and each call returns after that and sees what it did: two tasks",
        .threads = 2,
        .kept_for = "the smaller program",
    }),
    add_case<callers<3>>({
        .name = "once/three_calls",
        .property = "the function runs once, and each call returns after that and sees what it did: three tasks",
        .threads = 3,
        .mutants = {{"done_relaxed", "once.done", std::memory_order::relaxed}},
        .kept_for = "two tasks wait for the call",
    }),
    add_case<calls_vs_done<1>>({
        .name = "once/call_vs_done",
        .property = "a thread that learns that a call has returned sees what the function did: call ‖ done",
        .threads = 2,
        .mutants = {{"returns_relaxed", "once.returns", std::memory_order::relaxed}},
        .kept_for = "the thread that asks has never had the mutex",
    }),
    add_case<calls_vs_done<2>>({
        .name = "once/two_calls_vs_done",
        .property = "a thread that learns that a call has returned sees what the function did: call ‖ call ‖ done",
        .threads = 3,
        .kept_for = "one more task",
    }),
    add_case<first_call_throws>({
        .name = "once/first_call_throws",
        .property = "after a call that threw, another one calls the function, and then no further one: two tasks",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model
