// SPDX-License-Identifier: MIT
// Whether all tasks wait for each other for ever: the question, step by step beside a scheduler of the test's own, on
// one thread. What threads do in between is done where the question looks. The models check all interleavings.
#include <array>
#include <functional>

#include <gtest/gtest.h>
#include <runq/protocol/deadlock.hpp>

namespace {

using runq::suspicion;

/// A scheduler in which all tasks wait and no machine holds a processor, unless the test says otherwise.
struct asked_scheduler {
  template <class F>
  void if_idle(F&& f) {
    if (idle) f();
  }
  void ask_if_idle() { ++asked; }
  [[nodiscard]] bool other_threads() {
    while_counting();
    return threads;
  }
  [[nodiscard]] bool calls_in_progress() const { return calls; }
  [[nodiscard]] bool timers_pending() const { return timers; }
  [[nodiscard]] bool anything_queued() const { return queued; }
  [[nodiscard]] bool stop_possible() const { return stops; }
  template <class F>
  void for_each_kernel_wait(F&& f) {
    for (const auto& tally : waits) f(tally);
  }

  bool idle = true;
  bool threads = false;
  bool calls = false;
  bool timers = false;
  bool queued = false;
  bool stops = false;
  unsigned asked = 0;
  std::function<void()> while_counting = [] {};
  std::array<runq::kernel_waits<>, 2> waits;
  runq::deadlock_question<asked_scheduler> question{*this};
};

TEST(deadlock_question, a_suspicion_is_confirmed_if_nothing_has_happened_since) {
  asked_scheduler s;
  EXPECT_TRUE(s.question.all_wait());
  EXPECT_EQ(s.question.confirm(s.question.next_question()), suspicion::deadlock);
}

TEST(deadlock_question, a_thread_without_a_handle_may_wake_a_task_until_it_ends) {
  asked_scheduler s;
  const auto number = s.question.next_question();
  s.threads = true;
  EXPECT_EQ(s.question.confirm(number), suspicion::doubtful);
  s.threads = false;
  EXPECT_EQ(s.question.confirm(number), suspicion::deadlock);
}

TEST(deadlock_question, a_task_that_has_run_since_may_have_started_the_thread_that_wakes_it) {
  asked_scheduler s;
  const auto number = s.question.next_question();
  static_cast<void>(s.question.next_question());
  EXPECT_EQ(s.question.confirm(number), suspicion::outdated);
}

TEST(deadlock_question, a_task_that_runs_is_no_deadlock) {
  asked_scheduler s;
  const auto number = s.question.next_question();
  s.idle = false;
  EXPECT_EQ(s.question.confirm(number), suspicion::outdated);
}

TEST(deadlock_question, a_thread_that_wakes_a_task_and_ends_just_before_it_is_counted_is_not_overlooked) {
  asked_scheduler s;
  s.while_counting = [&] { s.queued = true; };
  EXPECT_EQ(s.question.confirm(s.question.next_question()), suspicion::outdated);
}

TEST(deadlock_question, whatever_may_still_wake_a_task_hides_a_deadlock) {
  for (const auto what :
       {&asked_scheduler::calls, &asked_scheduler::timers, &asked_scheduler::queued, &asked_scheduler::stops}) {
    asked_scheduler s;
    s.*what = true;
    EXPECT_FALSE(s.question.all_wait());
  }
}

TEST(deadlock_question, a_wait_for_the_kernel_may_end_on_another_processor_than_it_began) {
  asked_scheduler s;
  s.waits[0].start();
  EXPECT_FALSE(s.question.all_wait());
  s.waits[1].end();
  EXPECT_TRUE(s.question.all_wait());
}

TEST(deadlock_question, the_last_thread_that_gives_its_handle_up_asks) {
  asked_scheduler s;
  s.question.attach();
  s.question.attach();
  s.question.detach();
  EXPECT_FALSE(s.question.all_wait());
  EXPECT_EQ(s.asked, 0U);
  s.question.detach();
  EXPECT_TRUE(s.question.all_wait());
  EXPECT_EQ(s.asked, 1U);
}

TEST(deadlock_question, a_thread_that_has_seen_the_last_timer_go_asks) {
  asked_scheduler s;
  s.timers = true;
  s.question.timers_fired();
  EXPECT_EQ(s.asked, 0U);
  s.timers = false;
  s.question.timers_fired();
  EXPECT_EQ(s.asked, 1U);
}

}  // namespace
