// SPDX-License-Identifier: MIT
// The owner pushes and pops at one end while thieves take at the other, down to the last element and through growth.
#include <mutex>
#include <optional>
#include <utility>

#include "chase_lev_model.hpp"

namespace runq::model {
namespace {

// Owner: push push push (which grows the array) pop pop ‖ thieves: Steals steals each.
template <int Steals, form Form = form::handles>
struct grow_vs_steal final : chase_lev_model<3, when_full::grow, Form> {
  void thread(unsigned index) override {
    if (index == 0) {
      this->push(1);
      this->push(2);
      this->push(3);
      this->pop();
      this->pop();
    } else {
      this->steal_times(Steals);
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
      require(deque.make_thief().has_work(), "has_work() said no about a deque that was never empty");
      require(steal() != steal_status::empty, "a steal called a deque empty that was never empty");
    }
  }
};

// Any thread may ask how much fits. Owner: push push push (the first array, and then a larger one) ‖ another: capacity?
struct capacity_vs_growth final : chase_lev_model<3> {
  void thread(unsigned index) override {
    if (index == 0) {
      for (int id = 1; id <= 3; ++id) push(id);
      require(deque.capacity() == 4, "the owner does not know the capacity to which it has just grown");
    } else {
      const std::size_t seen = deque.capacity();
      require(seen == 2 || seen == 4, "a capacity that the deque never had");
    }
  }
};

// A bounded deque that is full. Owner: push push pop push ‖ thief: steal steal.
template <form Form = form::handles>
struct bounded_vs_steal final : chase_lev_model<5, when_full::refuse, Form> {
  bounded_vs_steal() {
    this->push(1);
    this->push(2);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      this->push_or_run(3);
      this->push_or_run(4);
      this->pop();
      this->push_or_run(5);
    } else {
      this->steal_times(2);
    }
    require(this->deque.capacity() == 2, "a bounded deque has grown");
  }
};

// A one_object is moved, and moved back, after a thief has taken the older of two tasks; the source of the first move
// is used again. Owner: pop push pop ‖ thief: steal steal.
template <when_full Full>
struct moved final : chase_lev_model<4, Full, form::one_object> {
  moved() {
    this->push(1);
    this->push(2);
    require(this->steal() == steal_status::taken, "a lone thief took nothing");
    typename moved::deque_type elsewhere(std::move(this->deque));
    require(this->deque.empty() && this->deque.steal().status == steal_status::empty && !this->deque.pop(),
            "what an object was moved from is not empty");
    task* const third = this->tasks.make(3);
    constexpr bool grows = Full == when_full::grow;
    require(this->deque.push(third) == grows,
            "what an object was moved from grows, or it is bounded and has no memory");
    require(this->deque.pop() == (grows ? std::optional(third) : std::nullopt),
            "a pop returned another task than the one pushed last");
    this->tasks.run(third);
    this->deque = std::move(elsewhere);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      this->pop();
      this->push(4);
      this->pop();
    } else {
      this->steal_times(2);
    }
  }
};

// Several tasks become visible at once, while the array grows. Owner: a batch of three, pop ‖ thief: steal steal.
struct batch_vs_steal final : chase_lev_model<3> {
  void thread(unsigned index) override {
    if (index == 0) {
      push_batch(1, 3);
      pop();
    } else {
      steal_times(2);
    }
  }
};

// A batch of which only a part fits. One task inside. Owner: a batch of three, pop ‖ thief: steal steal.
struct bounded_batch_vs_steal final : chase_lev_model<4, when_full::refuse> {
  bounded_batch_vs_steal() { push(1); }
  void thread(unsigned index) override {
    if (index == 0) {
      push_batch(2, 4);
      pop();
    } else {
      steal_times(2);
    }
  }
};

// Producers that are the owner in turn. Two threads: lock, push, unlock ‖ a thief: steal.
template <bool Locked>
struct producers final : chase_lev_model<2> {
  void thread(unsigned index) override {
    if (index == 2) {
      steal();
    } else if (Locked) {
      const std::lock_guard lock(of_the_host);
      push(static_cast<int>(index) + 1);
    } else {
      push(static_cast<int>(index) + 1);
    }
  }
  atomics::mutex of_the_host;
};

const bool added[] = {
    add_case<grow_vs_steal<1>>({
        .name = "chase_lev/grow_vs_steal",
        .property = "every task runs exactly once, its contents visible, while the array grows: ppptt ‖ steal",
        .threads = 2,
        .mutants = {{"publish_relaxed", "chase_lev.push.publish", std::memory_order::relaxed},
                    {"steal_bottom_relaxed", "chase_lev.steal.bottom", std::memory_order::relaxed},
                    {"array_publish_relaxed", "chase_lev.grow.publish", std::memory_order::relaxed},
                    {"array_read_relaxed", "chase_lev.steal.array", std::memory_order::relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "the smallest program that grows",
    }),
    add_case<grow_vs_steal<2>>({
        .name = "chase_lev/grow_vs_two_steals",
        .property = "every task runs exactly once, its contents visible, while the array grows: ppptt ‖ steal, steal",
        .threads = 2,
        .mutants = {{"pop_fence_acq_rel", "chase_lev.pop.fence", std::memory_order::acq_rel},
                    {"steal_fence_acq_rel", "chase_lev.steal.fence", std::memory_order::acq_rel}},
        .progress = progress_claim::lock_free,
        .kept_for = "the array grows while two steal",
    }),
    add_case<grow_vs_steal<1, form::in_two_steps>>({
        .name = "chase_lev/grow_in_two_steps",
        .property = "a push that is not to grow the array says no and changes nothing, and push() then grows it",
        .threads = 2,
        .mutants = {{"publish_relaxed", "chase_lev.push.publish", std::memory_order::relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "grow_vs_steal as a fork pushes: the algorithm is the same",
    }),
    add_case<bounded_vs_steal<form::in_two_steps>>({
        .name = "chase_lev/bounded_in_two_steps",
        .property = "a push that is not to ask where the thieves are says no, and push() then finds the room they made",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "thieves make room between the two steps",
    }),
    add_case<three_thieves>({
        .name = "chase_lev/three_thieves",
        .property = "three thieves and an owner that makes six calls run every task exactly once",
        .threads = 4,
        .kept_for = "the largest program",
    }),
    add_case<last_one>({
        .name = "chase_lev/last_one",
        .property = "owner and thief never both get the last task",
        .threads = 2,
        .mutants = {{"publish_relaxed", "chase_lev.push.publish", std::memory_order::relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "the smallest program",
    }),
    add_case<last_one_of_three>({
        .name = "chase_lev/last_one_of_three",
        .property = "owner and two thieves: one of them gets the last task",
        .threads = 3,
        .progress = progress_claim::lock_free,
        .kept_for = "two thieves meet the owner",
    }),
    add_case<slot_reuse>({
        .name = "chase_lev/slot_reuse",
        .property = "a thief never runs what the owner wrote into a slot after the thief had claimed it",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "the owner writes into slots that a thief may read",
    }),
    add_case<pop_on_empty>({
        .name = "chase_lev/pop_on_empty",
        .property = "a pop from an empty deque at index 0 finds nothing and breaks nothing",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "the index is 0, where an unsigned bottom would wrap around",
    }),
    add_case<never_empty>({
        .name = "chase_lev/never_empty",
        .property = "a deque that is never empty is never called empty",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "a wrong \"empty\" fails, although no task is lost",
    }),
    add_case<capacity_vs_growth>({
        .name = "chase_lev/capacity_vs_growth",
        .property = "capacity() called while the deque grows returns the old or the new one",
        .threads = 2,
        .mutants = {{"capacity_relaxed", "chase_lev.capacity", std::memory_order::relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "a thread asks for the capacity while the deque grows",
    }),
    add_case<bounded_vs_steal<>>({
        .name = "chase_lev/bounded_vs_steal",
        .property = "a bounded deque refuses a task only when it is full, and loses none: pptp ‖ two steals",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "the smallest program with a bounded deque",
    }),
    add_case<batch_vs_steal>({
        .name = "chase_lev/batch_vs_steal",
        .property =
            "linked tasks that are pushed at once become visible at once, and their links are not read after that",
        .threads = 2,
        .mutants = {{"batch_publish_relaxed", "chase_lev.push_batch.publish", std::memory_order::relaxed}},
        .progress = progress_claim::lock_free,
    }),
    add_case<producers<true>>({
        .name = "chase_lev/producers_under_a_mutex",
        .property = "threads that push under a mutex of the host together act as one owner",
        .threads = 3,
        .mutants = {{"publish_relaxed", "chase_lev.push.publish", std::memory_order::relaxed}},
        .progress = progress_claim::blocking,
        .kept_for = "producers share a mutex of the host",
    }),
    add_case<producers<false>>({
        .name = "chase_lev/producers_without_a_mutex",
        .property = "threads that push without a mutex do not act as one owner",
        .threads = 3,
        .seeded_bug = true,
    }),
    // A one_object needs no handles. The algorithm is the same, so the counts are those of the same programs above.
    add_case<grow_vs_steal<1, form::one_object>>({
        .name = "chase_lev/one_object",
        .property = "a one_object of a deque: every task runs exactly once while the array grows: ppptt ‖ steal",
        .threads = 2,
        .mutants = {{"publish_relaxed", "chase_lev.push.publish", std::memory_order::relaxed},
                    {"array_publish_relaxed", "chase_lev.grow.publish", std::memory_order::relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "grow_vs_steal without handles: the algorithm is the same",
    }),
    add_case<bounded_vs_steal<form::one_object>>({
        .name = "chase_lev/one_object_bounded",
        .property = "a one_object of a bounded deque refuses a task only when it is full, and loses none",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "bounded_vs_steal without handles: the algorithm is the same",
    }),
    add_case<moved<when_full::grow>>({
        .name = "chase_lev/one_object_moved",
        .property = "a one_object of a deque is moved while no thread uses it, and keeps its tasks and its memory",
        .threads = 2,
        .mutants = {{"publish_relaxed", "chase_lev.push.publish", std::memory_order::relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "a deque that can grow is moved",
    }),
    add_case<moved<when_full::refuse>>({
        .name = "chase_lev/one_object_moved_bounded",
        .property =
            "a one_object of a bounded deque is moved, and keeps its tasks; the source of the move has the capacity 0",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "a bounded deque is moved",
    }),
    add_case<bounded_batch_vs_steal>({
        .name = "chase_lev/bounded_batch_vs_steal",
        .property = "of a batch that does not fit the first elements are pushed, and the caller keeps the rest",
        .threads = 2,
        .progress = progress_claim::lock_free,
    }),
};

}  // namespace
}  // namespace runq::model
