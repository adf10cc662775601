// SPDX-License-Identifier: MIT
// Tasks wait for a latch that others count down.
#include "runq/barrier.hpp"
#include "scenario.hpp"
#include "waking_policy.hpp"

namespace runq::model {
namespace {

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
