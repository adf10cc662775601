// SPDX-License-Identifier: MIT
// A full ring gives its older half to the global queue while a thief takes half of it.
#include <utility>

#include "local_queue_model.hpp"

namespace runq::model {
namespace {

// Ring of 2, full. Owner: push push ‖ thief: steal.
template <form Form = form::handles>
struct overflow_vs_steal final : local_queue_model<4, 2, Form> {
  overflow_vs_steal() {
    this->push(owner, 1);
    this->push(owner, 2);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      this->push(owner, 3);
      this->push(owner, 4);
    } else {
      this->steal(owner, thief, steal_runnext::no);
    }
  }
  void finish() override { this->finish_with(owner, thief); }

  typename overflow_vs_steal::processor owner{*this};
  typename overflow_vs_steal::processor thief{*this};
};

// A one_object, which is moved with a task in runnext and one in the ring. Owner: pop push_next ‖ thief: steal.
struct moved final : local_queue_model<4, 2, form::one_object> {
  moved() {
    push(owner, 1);
    push(owner, 2);
    push_next(owner, 3);
    queue_type elsewhere(std::move(owner.queue));
    require(owner.queue.empty() && !owner.queue.pop(), "the source of a move is not empty");
    owner.queue = std::move(elsewhere);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      require(pop(owner) == 3, "after the move the runnext task is not in runnext");
      push_next(owner, 4);
    } else {
      steal(owner, thief, steal_runnext::no);
    }
  }
  void finish() override { finish_with(owner, thief); }

  processor owner{*this};
  processor thief{*this};
};

// Ring of `Capacity`, full. Owner: push ‖ thief: steal. Either the push comes first, and half of the ring and the new
// task overflow; or the steal does, and then there is room: nothing overflows.
template <std::size_t Capacity>
struct full_ring_vs_steal final : local_queue_model<static_cast<int>(Capacity) + 1, Capacity> {
  using model = local_queue_model<static_cast<int>(Capacity) + 1, Capacity>;
  full_ring_vs_steal() {
    for (std::size_t id = 1; id <= Capacity; ++id) model::push(owner, static_cast<int>(id));
  }
  void thread(unsigned index) override {
    if (index == 0) {
      model::push(owner, static_cast<int>(Capacity) + 1);
    } else {
      model::steal(owner, thief, steal_runnext::no);
    }
  }
  void finish() override { model::finish_with(owner, thief); }

  typename model::processor owner{*this};
  typename model::processor thief{*this};
};

// Ring of 2. Owner: push_next ×4 (the ring overflows), pop, pop ‖ three thieves.
struct three_thieves final : local_queue_model<4> {
  void thread(unsigned index) override {
    if (index == 0) {
      for (int id = 1; id <= 4; ++id) push_next(owner, id);
      pop(owner);
      pop(owner);
    } else {
      processor& mine = index == 1 ? first : index == 2 ? second : third;
      steal(owner, mine, steal_runnext::yes);
      drain(mine);
    }
  }
  void finish() override { finish_with(owner); }

  processor owner{*this};
  processor first{*this};
  processor second{*this};
  processor third{*this};
};

// Ring of 2, full. Owner: push, which overflows ‖ another processor: a share of the global queue. The batch arrives
// whole and in order: older half first, the new task last.
struct overflow_vs_take final : local_queue_model<3> {
  overflow_vs_take() {
    push(owner, 1);
    push(owner, 2);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      require(push(owner, 3) == 2, "a full ring of two did not move one task and the new one");
    } else if (const int id = take_share(other, 1)) {
      require(id == 1, "the overflow's oldest task did not come first");
      require(pop(other) == 3, "the new task did not come last");
    }
  }
  void finish() override { finish_with(owner, other); }

  processor owner{*this};
  processor other{*this};
};

// Two processors take their shares of three tasks; meanwhile a thief steals from one of them.
struct fair_shares_vs_steal final : local_queue_model<3> {
  fair_shares_vs_steal() {
    for (int id = 1; id <= 3; ++id) put(id);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      take_share(first, 2);
      pop(first);
    } else if (index == 1) {
      take_share(second, 2);
    } else {
      steal(first, thief, steal_runnext::no);
    }
  }
  void finish() override { finish_with(first, second, thief); }

  processor first{*this};
  processor second{*this};
  processor thief{*this};
};

// A processor is given up: it drains its queue into the global queue while a thief steals from it.
struct drain_vs_steal final : local_queue_model<3> {
  drain_vs_steal() {
    push(owner, 1);
    push(owner, 2);
    push_next(owner, 3);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      leave(owner);
    } else {
      steal(owner, thief, steal_runnext::yes);
    }
  }
  void finish() override { finish_with(owner, thief); }

  processor owner{*this};
  processor thief{*this};
};

const bool added[] = {
    add_case<overflow_vs_steal<>>({
        .name = "local_queue/overflow_vs_steal",
        .property = "what overflows and what is stolen are disjoint: every task runs exactly once",
        .threads = 2,
        .kept_for = "the smallest program that overflows",
    }),
    add_case<full_ring_vs_steal<4>>({
        .name = "local_queue/full_ring_of_4_vs_steal",
        .property = "a push overflows only a ring that is full when half of it is claimed: it moves 0 or 3 tasks",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "a ring of 4",
    }),
    add_case<full_ring_vs_steal<8>>({
        .name = "local_queue/full_ring_of_8_vs_steal",
        .property = "a push overflows only a ring that is full when half of it is claimed: it moves 0 or 5 tasks",
        .threads = 2,
        .kept_for = "a ring of 8",
    }),
    add_case<three_thieves>({
        .name = "local_queue/three_thieves",
        .property = "three thieves and an owner that makes six calls, with overflow, run every task exactly once",
        .threads = 4,
        .kept_for = "the largest program",
    }),
    add_case<overflow_vs_take>({
        .name = "local_queue/overflow_vs_take",
        .property = "an overflow arrives in the global queue whole and in order, contents visible",
        .threads = 2,
        .kept_for = "another processor takes from the global queue",
    }),
    add_case<fair_shares_vs_steal>({
        .name = "local_queue/fair_shares_vs_steal",
        .property = "two processors' fair shares of the global queue, and a steal from one of them, run every task "
                    "exactly once",
        .threads = 3,
        .mutants = {{"publish_relaxed", "ring.push_batch.publish", std::memory_order::relaxed}},
        .kept_for = "two shares of the global queue, and the order that publishes a share",
    }),
    add_case<drain_vs_steal>({
        .name = "local_queue/drain_vs_steal",
        .property = "a drained processor and a thief share out the tasks: each exactly once",
        .threads = 2,
        .kept_for = "a processor is drained",
    }),
    // A one_object needs no handles. The algorithm is the same, so its counts are those of
    // local_queue/overflow_vs_steal.
    add_case<overflow_vs_steal<form::one_object>>({
        .name = "local_queue/one_object",
        .property = "a one_object of a local queue: what overflows and what is stolen are disjoint",
        .threads = 2,
        .kept_for = "overflow_vs_steal without handles: the algorithm is the same",
    }),
    add_case<moved>({
        .name = "local_queue/one_object_moved",
        .property = "a one_object of a local queue is moved while no thread uses it, and each task keeps its place",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model
