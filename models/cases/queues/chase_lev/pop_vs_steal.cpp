// SPDX-License-Identifier: MIT
// The owner pushes and pops at one end while thieves take at the other, down to the last element and through growth.
#include <optional>

#include "linearize.hpp"
#include "oracle.hpp"
#include "runq/chase_lev.hpp"

namespace runq::model {
namespace {

/// An initial array of two slots; tasks are pushed in order of their ids.
template <int Tasks>
class chase_lev_model : public scenario {
 protected:
  using deque_type = basic_chase_lev<task*, atomics>;

  void push(int id) {
    task* const t = tasks.make(id);
    const moment began = log.begin();
    require(owner.push(t), "a push failed although there was memory");
    log.add(began, op_kind::append, {&id, 1});
  }
  /// Pops one task, if there is one, and runs it. Its id, or 0.
  int pop() {
    const moment began = log.begin();
    const std::optional<task*> got = owner.pop();
    return took(began, op_kind::take_back, got ? *got : nullptr);
  }
  steal_status steal() {
    const moment began = log.begin();
    const steal_result<task*> got = deque.make_thief().steal();
    // A lost race is no operation: nothing happened.
    if (got.status != steal_status::lost) took(began, op_kind::take_front, got.value);
    return got.status;
  }
  /// Several steals by one thief.
  void steal_times(int times) {
    for (int i = 0; i != times; ++i) steal();
  }
  void finish() override {
    while (pop() != 0) continue;
    tasks.require_all_ran();
    log.require_linearizable();
  }

  int took(moment began, op_kind kind, task* t) {
    if (t == nullptr) {
      log.add(began, op_kind::find_empty, {});
      return 0;
    }
    const int id = tasks.id_of(t);
    log.add(began, kind, {&id, 1});
    tasks.run(t);
    return id;
  }

  task_set<Tasks> tasks;
  deque_type deque{2};
  typename deque_type::owner owner = deque.make_owner();
  history<31, 8> log;
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

// Owner: push push push pop pop pop ‖ three thieves, one steal each.
struct three_thieves final : chase_lev_model<3> {
  void thread(unsigned index) override {
    if (index != 0) {
      steal();
      return;
    }
    for (int id = 1; id <= 3; ++id) push(id);
    for (int i = 0; i != 3; ++i) pop();
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
        .progress = progress_claim::lock_free,
    }),
    add_case<grow_vs_steal<2>>({
        .name = "chase_lev/grow_vs_two_steals",
        .property = "the same with two steals by one thief",
        .threads = 2,
        .quick = {.random = 100'000, .bound = 3},
        .mutants = {{"pop_fence_acq_rel", "chase_lev.pop.fence", std::memory_order::acq_rel},
                    {"steal_fence_acq_rel", "chase_lev.steal.fence", std::memory_order::acq_rel}},
        .progress = progress_claim::lock_free,
    }),
    add_case<three_thieves>({
        .name = "chase_lev/three_thieves",
        .property = "three thieves and an owner of six moves run every task exactly once",
        .threads = 4,
        .quick = {.random = 50'000, .bound = 1},
    }),
    add_case<last_one>({
        .name = "chase_lev/last_one",
        .property = "owner and thief never both get the last task",
        .threads = 2,
        .quick = {.random = 100'000, .bound = 4},
        .mutants = {{"publish_relaxed", "chase_lev.push.publish", std::memory_order::relaxed}},
        .progress = progress_claim::lock_free,
    }),
    add_case<last_one_of_three>({
        .name = "chase_lev/last_one_of_three",
        .property = "owner and two thieves: one of them gets the last task",
        .threads = 3,
        .quick = {.random = 100'000, .bound = 3},
        .progress = progress_claim::lock_free,
    }),
    add_case<slot_reuse>({
        .name = "chase_lev/slot_reuse",
        .property = "a thief never runs what the owner wrote into a slot after the thief had claimed it",
        .threads = 2,
        .quick = {.random = 100'000, .bound = 4},
        .progress = progress_claim::lock_free,
    }),
    add_case<pop_on_empty>({
        .name = "chase_lev/pop_on_empty",
        .property = "a pop from an empty deque at index 0 finds nothing and breaks nothing",
        .threads = 2,
        .quick = {.random = 50'000, .bound = 4},
        .progress = progress_claim::lock_free,
    }),
    add_case<never_empty>({
        .name = "chase_lev/never_empty",
        .property = "a deque that at no moment is empty is never called empty",
        .threads = 2,
        .quick = {.random = 50'000, .bound = 4},
        .progress = progress_claim::lock_free,
    }),
};

}  // namespace
}  // namespace runq::model
