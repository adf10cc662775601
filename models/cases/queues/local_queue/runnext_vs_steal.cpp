// SPDX-License-Identifier: MIT
// A task is displaced from runnext into the ring while thieves look at both.
#include "local_queue_model.hpp"

namespace runq::model {
namespace {

// Owner: push_next push_next pop ‖ thief: steal, runnext allowed ‖ thief: the same.
struct displaced_vs_stolen final : local_queue_model<2> {
  void thread(unsigned index) override {
    if (index == 0) {
      push_next(owner, 1);
      push_next(owner, 2);
      pop(owner);
    } else {
      processor& mine = index == 1 ? first : second;
      steal(owner, mine, steal_runnext::yes);
      drain(mine);
    }
  }
  void finish() override { finish_with(owner); }

  processor owner{*this};
  processor first{*this};
  processor second{*this};
};

// Go's test of runqempty, in small: task 1 is in runnext; at every moment some task is in the queue.
// Owner: push_next(2), which moves 1 to the ring, then pop, which takes 2 ‖ observer: is there work, by
// has_work_approx() or by has_work()?
template <bool Ordered>
struct sees_a_moving_task final : local_queue_model<2> {
  sees_a_moving_task() { push_next(owner, 1); }
  void thread(unsigned index) override {
    if (index == 0) {
      push_next(owner, 2);
      require(pop(owner) == 2, "pop did not take the runnext task first");
    } else {
      require(asks(owner, Ordered), "there was no work although a task was in the queue all the time");
    }
  }
  void finish() override { finish_with(owner); }

  processor owner{*this};
};

// With a thief the guarantee of sees_a_moving_task is weaker: while push_next() moves a displaced task, that
// task is in no queue. The guarantee holds again once push_next() has returned. Task 1 in runnext. Owner: push_next(2),
// then tells ‖ thief: takes one ‖ observer: once told, sees work, because only one of the two tasks was taken.
struct published_is_seen final : local_queue_model<2> {
  published_is_seen() { push_next(owner, 1); }
  void thread(unsigned index) override {
    if (index == 0) {
      push_next(owner, 2);
      told.store(1, std::memory_order::release);
    } else if (index == 1) {
      steal(owner, mine, steal_runnext::yes);
    } else if (told.load(std::memory_order::acquire) == 1) {
      require(asks(owner, false), "has_work_approx() said no about a task that had been published");
    }
  }
  void finish() override { finish_with(owner, mine); }

  model::atomic<int> told{0};
  processor owner{*this};
  processor mine{*this};
};

const bool added[] = {
    add_case<displaced_vs_stolen>({
        .name = "local_queue/displaced_vs_stolen",
        .property = "displaced into the ring, taken or stolen from either place: every task runs exactly once",
        .threads = 3,
        .mutants = {{"put_relaxed", "runnext.put", std::memory_order::relaxed},
                    {"publish_relaxed", "ring.push.publish", std::memory_order::relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "the tasks are counted, not only the answers judged",
    }),
    add_case<sees_a_moving_task<false>>({
        .name = "local_queue/has_work_approx_sees_a_moving_task",
        .property = "has_work_approx() never says no while a task moves from runnext to the ring (two threads)",
        .threads = 2,
        .mutants = {{"take_relaxed", "runnext.take", std::memory_order::relaxed},
                    {"has_work_approx_relaxed", "runnext.has_work_approx", std::memory_order::relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "has_work_approx() is asked",
    }),
    add_case<sees_a_moving_task<true>>({
        .name = "local_queue/has_work_sees_a_moving_task",
        .property = "has_work() never says no while a task moves from runnext to the ring (two threads)",
        .threads = 2,
        .mutants = {{"has_work_release", "runnext.has_work", std::memory_order::release},
                    {"has_work_relaxed", "runnext.has_work", std::memory_order::relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "has_work() is asked",
    }),
    add_case<published_is_seen>({
        .name = "local_queue/published_is_seen",
        .property = "has_work_approx() never denies a published task, whatever a third thread steals meanwhile",
        .threads = 3,
        .progress = progress_claim::lock_free,
        .kept_for = "a third thread asks while two others steal",
    }),
};

}  // namespace
}  // namespace runq::model
