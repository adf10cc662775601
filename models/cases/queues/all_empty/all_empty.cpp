// SPDX-License-Identifier: MIT
// Whether several queues are empty: by one question after the other, and by all_empty().
#include "runq/all_empty.hpp"

#include <optional>

#include "oracle.hpp"
#include "runq/chase_lev.hpp"
#include "runq/inject.hpp"
#include "runq/split_deque.hpp"
#include "runq/split_ring.hpp"

namespace runq::model {
namespace {

using bounded = basic_chase_lev<task*, atomics, when_full::refuse>;
using split_pair = basic_split_deque<task*, 2, split_deque_options{.publish = 2, .tries = 1, .polls = 0}, atomics>;
using split_ring_pair = basic_split_ring<task*, 2, split_ring_options{.run = 1, .tries = 1, .polls = 0}, atomics>;

/// Two deques, or other queues, and one task in the second.
template <int Tasks, class Queue = bounded>
class two_deques : public scenario {
 protected:
  using deque_type = counted<Queue>;

  two_deques() { push(second, 1); }

  void push(deque_type& to, int id) { require(to.push(tasks.make(id)), "a push failed although there was room"); }
  void pop(deque_type& from) {
    if (const std::optional<task*> got = from.pop()) tasks.run(*got);
  }
  [[nodiscard]] bool one_after_the_other() const { return first.empty() && second.empty(); }
  void finish() override {
    pop(first);
    pop(second);
    tasks.require_all_ran();
    require(all_empty(first, second), "deques that nobody uses and that hold nothing are not empty");
  }

  task_set<Tasks> tasks;
  deque_type first{2};
  deque_type second{2};
};

// At each moment one of the deques holds a task. Owner of both: push into the first, pop from the second ‖ another
// thread: are both empty?
template <bool ByHelper>
struct never_both final : two_deques<2> {
  void thread(unsigned index) override {
    if (index == 0) {
      push(first, 2);
      pop(second);
    } else {
      require(!(ByHelper ? all_empty(first, second) : one_after_the_other()),
              "both were called empty, but at each moment one of them held a task");
    }
  }
};

// As never_both, but in both deques a task is pushed and the last task popped again; after the pop the deque looks as
// it did before the push. Owner of both: push pop, to and fro.
struct push_and_pop_in_turn final : two_deques<4> {
  void thread(unsigned index) override {
    if (index == 0) {
      push(first, 2);
      pop(second);
      push(second, 3);
      pop(first);
      push(first, 4);
      pop(second);
    } else {
      require(!all_empty(first, second), "both were called empty, but at each moment one of them held a task");
    }
  }
};

// The deques have an owner each. Owner of the first: push ‖ owner of the second: if the first holds a task, pop ‖
// another thread: are both empty?
template <class Queue = bounded>
struct two_owners final : two_deques<2, Queue> {
  void thread(unsigned index) override {
    if (index == 0) {
      this->push(this->first, 2);
    } else if (index == 1) {
      if (!this->first.empty()) this->pop(this->second);
    } else {
      require(!all_empty(this->first, this->second),
              "both were called empty, but at each moment one of them held a task");
    }
  }
};

// The first queue is shared by all threads. A producer: puts a task ‖ owner of the second: if a task was put, pop ‖
// another thread: are both empty?
struct with_inject final : two_deques<2> {
  void thread(unsigned index) override {
    if (index == 0) {
      global.put(tasks.make(2));
    } else if (index == 1) {
      if (global.has_work_approx()) pop(second);
    } else {
      require(!all_empty(global, second), "both were called empty, but at each moment one of them held a task");
    }
  }
  void finish() override {
    if (task* const t = global.take()) tasks.run(t);
    two_deques::finish();
  }

  inject<&task::link> global;
};

const bool added[] = {
    add_case<never_both<true>>({
        .name = "all_empty/never_both",
        .property = "all_empty() never says yes about two deques of which one holds a task at each moment",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "the smallest program",
    }),
    add_case<never_both<false>>({
        .name = "all_empty/one_after_the_other",
        .property = "two deques that are asked one after the other may both say that they are empty",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<push_and_pop_in_turn>({
        .name = "all_empty/push_and_pop_in_turn",
        .property =
            "all_empty() never says yes while two deques, of which one always holds a task, get and lose tasks in turn",
        .threads = 2,
        .progress = progress_claim::lock_free,
    }),
    add_case<with_inject>({
        .name = "all_empty/with_inject",
        .property = "all_empty() never says yes about a shared queue and a deque whose owner pops after it saw a put",
        .threads = 3,
        .progress = progress_claim::blocking,
    }),
    add_case<two_owners<>>({
        .name = "all_empty/two_owners",
        .property =
            "all_empty() never says yes about deques of two owners, one of which pops after it saw the other's push",
        .threads = 3,
        .mutants = {{"observe_relaxed", "counted.observe", std::memory_order::relaxed},
                    {"pushed_relaxed", "counted.pushed", std::memory_order::relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "the smallest program with two owners",
    }),
    add_case<two_owners<split_pair>>({
        .name = "all_empty/two_owners_of_split_deques",
        .property =
            "all_empty() never says yes about split deques, one of which gets a task before the other loses one",
        .threads = 3,
        .progress = progress_claim::lock_free,
        .kept_for = "the queues are split_deques",
    }),
    add_case<two_owners<split_ring_pair>>({
        .name = "all_empty/two_owners_of_split_rings",
        .property = "all_empty() never says yes about split rings, one of which gets a task before the other loses one",
        .threads = 3,
        .progress = progress_claim::lock_free,
        .kept_for = "the queues are split_rings",
    }),
};

}  // namespace
}  // namespace runq::model
