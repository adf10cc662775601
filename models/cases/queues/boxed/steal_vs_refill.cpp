// SPDX-License-Identifier: MIT
// Queues of boxed values: thieves return boxes while the owner fills others. Blocks of one box, so that the owner looks
// for returned boxes at each push.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "oracle.hpp"
#include "runq/boxed.hpp"
#include "runq/chase_lev.hpp"
#include "runq/ring.hpp"
#include "runq/split_deque.hpp"

namespace runq::model {
namespace {

constexpr auto relaxed = std::memory_order::relaxed;

using box_of_task = box<task*, atomics>;
using deque = one_object<basic_chase_lev<box_of_task*, atomics, when_full::refuse>>;
using split =
    one_object<basic_split_deque<box_of_task*, 4, split_deque_options{.publish = 2, .tries = 1, .polls = 0}, atomics>>;
using fifo = one_object<basic_ring<box_of_task*, 4, std::uint8_t, atomics>>;

/// Memory for so many blocks.
struct blocks {
  unsigned left = 0;
  unsigned given = 0;
  void* allocate(std::size_t bytes, std::size_t) {
    if (left == 0) return nullptr;
    --left;
    ++given;
    return atomics::allocate(bytes);
  }
  void deallocate(void* memory, std::size_t, std::size_t) { atomics::deallocate(memory); }
};

/// A queue, at first with tasks 1 … First, and memory for as many boxes as there are tasks.
template <int Tasks, int First, class Queue = deque>
class boxed_model : public scenario {
 protected:
  boxed_model() {
    memory = {.left = Tasks};  // a chase_lev has its array
    for (int id = 1; id <= First; ++id) push(id);
  }

  bool try_push(int id) { return queue.push(tasks.make(id)); }
  void push(int id) { require(try_push(id), "a push failed although there was room, and memory for a box"); }
  void pop() {
    if (const std::optional<task*> got = queue.pop()) tasks.run(*got);
  }
  void steal() {
    if (const auto got = queue.steal()) tasks.run(got.value);
  }
  /// All tasks have run, so all boxes are free: each can be filled again, without memory for another one.
  void finish() override {
    while (const std::optional<task*> got = queue.pop()) tasks.run(*got);
    tasks.require_all_ran();
    memory.left = 0;
    const std::size_t boxes = std::min<std::size_t>(memory.given, queue.capacity());
    for (std::size_t i = 0; i != boxes; ++i) require(queue.push(nullptr), failure::lost, "a box was lost");
  }

  task_set<Tasks> tasks;
  blocks memory{.left = 1};
  boxed<Queue, 1> queue{4, memory};
};

// push pop push ‖ steal: the last push may use the box of the thief.
template <class Queue = deque>
struct steal_vs_refill final : boxed_model<3, 1, Queue> {
  void thread(unsigned index) override {
    if (index == 0) {
      this->push(2);
      this->pop();
      this->push(3);
    } else {
      this->steal();
    }
  }
};

// push ‖ steal ‖ steal: two thieves return a box each.
struct two_thieves final : boxed_model<3, 2> {
  void thread(unsigned index) override {
    if (index == 0) {
      push(3);
    } else {
      steal();
    }
  }
};

// push ‖ steal ‖ steal steal: the box that one thief has seen returned is filled, stolen and returned again.
struct returned_twice final : boxed_model<3, 2> {
  void thread(unsigned index) override {
    if (index == 0) {
      push(3);
    } else {
      steal();
      if (index == 2) steal();
    }
  }
};

// push pop ‖ steal of half of three: two boxes are returned at once.
struct half final : boxed_model<5, 3, fifo> {
  void thread(unsigned index) override {
    if (index == 0) {
      push(4);
      pop();
      push(5);
    } else {
      std::array<task*, 2> out{};
      const batch_result got = queue.steal_half(out);
      for (task* const t : std::span(out).first(got.count)) tasks.run(t);
    }
  }
};

// A full queue. push push ‖ steal: one of the pushes, or each of them, says no.
struct full final : boxed_model<6, 4> {
  void thread(unsigned index) override {
    if (index == 1) {
      steal();
      return;
    }
    for (const int id : {5, 6}) {
      if (try_push(id)) continue;
      tasks.run(tasks.get(id));
      ++refused;
    }
  }
  void finish() override {
    require(refused != 2 || memory.given <= 5, failure::lost, "a push that said no kept its box");
    boxed_model::finish();
  }

  int refused = 0;
};

// A queue that was moved when one box had been returned, one was free and one was in use. push push ‖ steal.
struct moved final : boxed_model<5, 3> {
  moved() {
    steal();
    pop();
    boxed<deque, 1> other(std::move(queue));
    queue = std::move(other);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      push(4);
      push(5);
    } else {
      steal();
    }
  }
};

const bool added[] = {
    add_case<steal_vs_refill<>>({
        .name = "boxed/steal_vs_refill",
        .property = "every task runs exactly once, and a box is filled again only when the thief has read it",
        .threads = 2,
        .mutants = {{"return_relaxed", "box_pool.return", relaxed}, {"collect_relaxed", "box_pool.collect", relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "the smallest program",
    }),
    add_case<steal_vs_refill<split>>({
        .name = "boxed/steal_vs_refill_of_a_split_deque",
        .property = "every task of a split deque runs exactly once, and a box is filled again only when it was read",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "the deque is a split_deque",
    }),
    add_case<two_thieves>({
        .name = "boxed/two_thieves",
        .property = "two thieves return a box each while the owner takes the returned ones, and no box is lost",
        .threads = 3,
        .progress = progress_claim::lock_free,
        .kept_for = "two thieves return a box each",
    }),
    add_case<returned_twice>({
        .name = "boxed/returned_twice",
        .property = "a thief returns a box behind one that was filled and returned again meanwhile",
        .threads = 3,
        .progress = progress_claim::lock_free,
        .kept_for = "a box is returned behind one that was filled and returned again",
    }),
    add_case<half>({
        .name = "boxed/half",
        .property = "a thief of half a ring returns its boxes at once, and none is lost",
        .threads = 2,
        .progress = progress_claim::lock_free,
    }),
    add_case<full>({
        .name = "boxed/full",
        .property = "a push that a full queue refuses keeps no box",
        .threads = 2,
        .progress = progress_claim::lock_free,
    }),
    add_case<moved>({
        .name = "boxed/moved",
        .property = "a boxed queue that is moved takes its free boxes and its returned ones along",
        .threads = 2,
        .progress = progress_claim::lock_free,
    }),
};

}  // namespace
}  // namespace runq::model
