// SPDX-License-Identifier: MIT
// The last elements, as in pop_vs_steal.cpp, with fences by interrupt (interrupt.hpp): what a policy with membarrier(2)
// relies on.
#include "chase_lev_model.hpp"
#include "interrupt.hpp"

namespace runq::model {
namespace {

/// Thread 0 is the owner, the others are thieves.
template <int Tasks>
struct owner_and_thieves : chase_lev_model<Tasks, when_full::grow, form::handles, interrupt_atomics> {
  void thread(unsigned index) override {
    if (index == 0) {
      owns();
    } else {
      steals();
    }
  }
  virtual void owns() = 0;
  virtual void steals() { this->steal(); }
};

// Two tasks inside. Owner: pop pop ‖ two thieves, one steal each: the owner must see what both have taken.
struct last_two : owner_and_thieves<2> {
  last_two() {
    push(1);
    push(2);
  }
  void owns() override {
    pop();
    pop();
  }
};

// One task inside. Owner: pop push pop ‖ thief: steal, steal.
struct popped_and_pushed : owner_and_thieves<2> {
  popped_and_pushed() { push(1); }
  void owns() override {
    pop();
    push(2);
    pop();
  }
  void steals() override { steal_times(2); }
};

// Nothing inside, and no array yet. Owner: push pop pop ‖ thief: steal. A thief that made its fence before the push may
// read what the second pop restores, and must then see the array.
struct first_pushed : owner_and_thieves<1> {
  void owns() override {
    push(1);
    pop();
    pop();
  }
};

const bool added[] = {
    add_case<interrupted<last_two, 3>>({
        .name = "chase_lev/interrupt_last_two",
        .property = "an owner that pops two tasks sees what two thieves have taken; fences by interrupt",
        .threads = 3,
    }),
    add_case<interrupted<popped_and_pushed, 2>>({
        .name = "chase_lev/interrupt_popped_and_pushed",
        .property = "owner and thief share out the last task and the next one; fences by interrupt",
        .threads = 2,
        .mutants = {{"reset_relaxed", "chase_lev.pop.reset", std::memory_order::relaxed}},
        .kept_for = "the order of chase_lev.pop.reset, with fences by interrupt",
    }),
    add_case<interrupted<first_pushed, 2>>({
        .name = "chase_lev/interrupt_first_pushed",
        .property = "a thief that sees what an owner has restored sees the array, too; fences by interrupt",
        .threads = 2,
        .mutants = {{"restore_relaxed", "chase_lev.pop.restore", std::memory_order::relaxed}},
        .kept_for = "the order of chase_lev.pop.restore, with fences by interrupt",
    }),
};

}  // namespace
}  // namespace runq::model
