// SPDX-License-Identifier: MIT
// A local queue whose ring is a split_ring. What overflows and what a retiring processor drains leaves the ring by one
// pop after the other, so a thief may take tasks in between; and half of what a thief sees is not half of the ring. So
// these cases do not ask for the history that a local queue with a ring has, but that each task runs exactly once, and
// that no thread is told that there is no work while there is.
#include "split_model.hpp"

namespace runq::model {
namespace {

// A processor is given up: it drains its queue, and links all tasks, while a thief steals.
struct drain final : split_model<3> {
  drain() {
    push(1);
    push(2);
    push_next(3);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      auto all = owner.drain();
      while (task* const t = all.pop_front()) tasks.run(t);
    } else {
      steal(steal_runnext::yes);
    }
  }
};

// Task 1 is in runnext. Owner: push_next(2), which moves 1 to the ring, then pop, which takes 2 ‖ observer: is there
// work?
template <bool Ordered>
struct moving_task final : split_model<2> {
  moving_task() { push_next(1); }
  void thread(unsigned index) override {
    if (index == 0) {
      push_next(2);
      const auto got = owner.pop();
      require(got.from_runnext, "pop did not take the runnext task first");
      tasks.run(got.task);
    } else {
      require(asks(Ordered), "there was no work although a task was in the queue all the time");
    }
  }
};

// Task 1 is in runnext. Owner: push_next(2), then tells ‖ thief: takes one ‖ observer: once told, sees work, because
// only one of the two tasks was taken.
struct published final : split_model<2> {
  published() { push_next(1); }
  void thread(unsigned index) override {
    if (index == 0) {
      push_next(2);
      told.store(1, std::memory_order::release);
    } else if (index == 1) {
      steal(steal_runnext::yes);
    } else if (told.load(std::memory_order::acquire) == 1) {
      require(asks(false), "has_work_approx() said no about a task that had been published");
    }
  }

  model::atomic<int> told{0};
};

const bool added[] = {
    add_case<overflow<>>({
        .name = "local_queue/split_overflow_vs_steal",
        .property =
            "with a split_ring, too, what overflows and what is stolen are disjoint: every task runs exactly once",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "the ring is a split_ring",
    }),
    add_case<drain>({
        .name = "local_queue/split_drain_vs_steal",
        .property = "with a split_ring, a drained processor and a thief share out the tasks: each exactly once",
        .threads = 2,
        .progress = progress_claim::lock_free,
    }),
    add_case<moving_task<false>>({
        .name = "local_queue/split_has_work_approx_sees_a_moving_task",
        .property = "has_work_approx() never says no while a task moves from runnext to a split_ring (two threads)",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "the ring is a split_ring; has_work_approx() is asked",
    }),
    add_case<moving_task<true>>({
        .name = "local_queue/split_has_work_sees_a_moving_task",
        .property = "has_work() never says no while a task moves from runnext to a split_ring (two threads)",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "the ring is a split_ring; has_work() is asked",
    }),
    add_case<published>({
        .name = "local_queue/split_published_is_seen",
        .property =
            "has_work_approx() never denies a task that was published in a split_ring, whatever a third thread steals",
        .threads = 3,
        .progress = progress_claim::lock_free,
        .kept_for = "the ring is a split_ring",
    }),
};

}  // namespace
}  // namespace runq::model
