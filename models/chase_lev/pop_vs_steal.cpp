// SPDX-License-Identifier: MIT
// The owner pushes and pops at one end while thieves take at the other, down to the last element and through growth.
#include "oracle.hpp"
#include "runq/chase_lev.hpp"

namespace runq::model {
namespace {

/// An initial array of two slots; tasks are pushed in order of their ids.
template <int Tasks>
class chase_lev_model : public scenario {
 protected:
  using deque_type = basic_chase_lev<task*, atomics>;

  void push(int id) { require(owner.push(tasks.make(id)), "a push failed although there was memory"); }
  /// Pops one task, if there is one, and runs it. Its id, or 0.
  int pop() { return run(owner.pop().value_or(nullptr)); }
  steal_status steal() {
    const steal_result<task*> got = deque.make_thief().steal();
    run(got.value);
    return got.status;
  }
  /// Several steals by one thief, who sees the oldest first.
  void steal_times(int times) {
    fifo_view view;
    for (int i = 0; i != times; ++i) {
      const steal_result<task*> got = deque.make_thief().steal();
      if (const int id = run(got.value)) view.see(id);
    }
  }
  void finish() override {
    while (pop() != 0) continue;
    tasks.require_all_ran();
  }

  int run(task* t) {
    if (t == nullptr) return 0;
    tasks.run(t);
    return tasks.id_of(t);
  }

  task_set<Tasks> tasks;
  deque_type deque{2};
  typename deque_type::owner owner = deque.make_owner();
};

// Owner: push push push (which grows the array) pop pop ‖ thieves: Steals steals each.
template <int Steals>
struct grow_vs_steal final : chase_lev_model<3> {
  void thread(unsigned index) override {
    if (index == 0) {
      push(1);
      push(2);
      push(3);
      pop();
      pop();
    } else {
      steal_times(Steals);
    }
  }
};

// One task inside. Owner: pop push pop ‖ thief: steal steal: both want the last element.
struct last_one final : chase_lev_model<2> {
  last_one() { push(1); }
  void thread(unsigned index) override {
    if (index == 0) {
      pop();
      push(2);
      pop();
    } else {
      steal_times(2);
    }
  }
};

// One task inside. Owner: pop ‖ two thieves, one steal each.
struct last_one_of_three final : chase_lev_model<1> {
  last_one_of_three() { push(1); }
  void thread(unsigned index) override {
    if (index == 0) {
      pop();
    } else {
      steal();
    }
  }
};

// Slots of a full array are used again. Two tasks inside. Owner: pop push push ‖ thief: steal.
struct slot_reuse final : chase_lev_model<4> {
  slot_reuse() {
    push(1);
    push(2);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      pop();
      push(3);
      push(4);
    } else {
      steal();
    }
  }
};

// The owner pops from an empty deque at index 0. Owner: pop push pop ‖ thief: steal.
struct pop_on_empty final : chase_lev_model<1> {
  void thread(unsigned index) override {
    if (index == 0) {
      require(pop() == 0, "a pop from an empty deque found something");
      push(1);
      pop();
    } else {
      steal();
    }
  }
};

// The deque is never empty. Two tasks inside. Owner: push pop ‖ thief: is there work? steal.
struct never_empty final : chase_lev_model<3> {
  never_empty() {
    push(1);
    push(2);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      push(3);
      pop();
    } else {
      require(deque.make_thief().has_work(), "has_work() said no about a deque that never was empty");
      require(steal() != steal_status::empty, "a steal called a deque empty that never was");
    }
  }
};

const bool added[] = {
    add_case<grow_vs_steal<1>>({
        .name = "chase_lev/grow_vs_steal",
        .property = "every task runs exactly once, its contents visible, while the array grows: ppptt ‖ steal",
        .threads = 2,
        .quick = {.random = 100'000, .bound = 3},
        .mutants = {{"publish_relaxed", "chase_lev.push.publish", std::memory_order::relaxed},
                    {"steal_bottom_relaxed", "chase_lev.steal.bottom", std::memory_order::relaxed},
                    {"array_publish_relaxed", "chase_lev.grow.publish", std::memory_order::relaxed},
                    {"array_read_relaxed", "chase_lev.steal.array", std::memory_order::relaxed}},
    }),
    add_case<grow_vs_steal<2>>({
        .name = "chase_lev/grow_vs_two_steals",
        .property = "the same with two steals by one thief, who sees the oldest first",
        .threads = 2,
        .quick = {.random = 100'000, .bound = 3},
        .mutants = {{"pop_fence_acq_rel", "chase_lev.pop.fence", std::memory_order::acq_rel},
                    {"steal_fence_acq_rel", "chase_lev.steal.fence", std::memory_order::acq_rel}},
    }),
    add_case<last_one>({
        .name = "chase_lev/last_one",
        .property = "owner and thief never both get the last task",
        .threads = 2,
        .quick = {.random = 100'000, .bound = 4},
        .mutants = {{"publish_relaxed", "chase_lev.push.publish", std::memory_order::relaxed}},
    }),
    add_case<last_one_of_three>({
        .name = "chase_lev/last_one_of_three",
        .property = "owner and two thieves: one of them gets the last task",
        .threads = 3,
        .quick = {.random = 100'000, .bound = 3},
    }),
    add_case<slot_reuse>({
        .name = "chase_lev/slot_reuse",
        .property = "a thief never runs what the owner wrote into a slot after the thief had claimed it",
        .threads = 2,
        .quick = {.random = 100'000, .bound = 4},
    }),
    add_case<pop_on_empty>({
        .name = "chase_lev/pop_on_empty",
        .property = "a pop from an empty deque at index 0 finds nothing and breaks nothing",
        .threads = 2,
        .quick = {.random = 50'000, .bound = 4},
    }),
    add_case<never_empty>({
        .name = "chase_lev/never_empty",
        .property = "a deque that at no moment is empty is never called empty",
        .threads = 2,
        .quick = {.random = 50'000, .bound = 4},
    }),
};

}  // namespace
}  // namespace runq::model
