// SPDX-License-Identifier: MIT
// The rules of runnext, one test each. Rows Q2, Q14, Q15 and Q17 of the queue rules; Q13, and where a displaced task
// goes, are in local_queue_test.cpp. The scheduler decides in which round a thief may steal from runnext.
#include <cstddef>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>
#include <runq/runnext.hpp>

#include "support.hpp"

namespace {

using runq::steal_status;
using runq_test::op;
using runq_test::probe;

using slot = runq::runnext<int>;
using probed_slot = runq::basic_runnext<int, runq_test::probe_atomics>;

TEST(runnext, a_put_into_an_empty_slot_displaces_nothing_and_comes_back) {
  slot s;
  auto owner = s.make_owner();
  EXPECT_EQ(owner.take(), std::nullopt);
  EXPECT_EQ(owner.put(1), std::nullopt);
  EXPECT_EQ(owner.take(), 1);
  EXPECT_EQ(owner.take(), std::nullopt);
}

TEST(runnext, Q14_a_second_put_hands_back_the_first) {
  slot s;
  auto owner = s.make_owner();
  EXPECT_EQ(owner.put(1), std::nullopt);
  EXPECT_EQ(owner.put(2), 1);
  EXPECT_EQ(owner.put(3), 2);
  EXPECT_EQ(owner.take(), 3);
}

TEST(runnext, Q15_a_thief_takes_it_only_after_its_pauses) {
  for (const std::size_t backoff : {std::size_t{0}, std::size_t{1}, std::size_t{10}, slot::default_backoff}) {
    probed_slot s;
    auto owner = s.make_owner();
    ASSERT_EQ(owner.put(1), std::nullopt);
    probe::reset();
    const auto loot = s.make_thief().steal(backoff);
    EXPECT_EQ(loot.status, steal_status::taken);
    EXPECT_EQ(loot.value, 1);
    EXPECT_EQ(loot.count, 1U);
    EXPECT_EQ(probe::count(op::pause), backoff);
    EXPECT_EQ(owner.take(), std::nullopt);
  }
}

TEST(runnext, Q15_a_thief_does_not_wait_for_what_is_not_there) {
  probed_slot s;
  probe::reset();
  const auto loot = s.make_thief().steal();
  EXPECT_EQ(loot.status, steal_status::empty);
  EXPECT_EQ(loot.count, 0U);
  EXPECT_EQ(probe::count(op::pause), 0U);
  EXPECT_EQ(probe::count(op::rmw), 0U);
}

TEST(runnext, Q15_a_thief_gives_up_at_once_when_the_owner_takes_it_meanwhile) {
  probed_slot s;
  auto owner = s.make_owner();
  ASSERT_EQ(owner.put(1), std::nullopt);
  probe::reset();
  probe::before(op::pause, 3, [&] { EXPECT_EQ(owner.take(), 1); });
  EXPECT_EQ(s.make_thief().steal().status, steal_status::lost);
  EXPECT_EQ(probe::count(op::pause), 3U);
  EXPECT_EQ(probe::count(op::rmw), 0U);
}

TEST(runnext, Q15_a_thief_leaves_a_newer_task_alone) {
  probed_slot s;
  auto owner = s.make_owner();
  ASSERT_EQ(owner.put(1), std::nullopt);
  probe::before(op::pause, 64, [&] { EXPECT_EQ(owner.put(2), 1); });
  EXPECT_EQ(s.make_thief().steal().status, steal_status::lost);
  EXPECT_TRUE(probe::happened());
  EXPECT_EQ(owner.take(), 2);
}

TEST(runnext, of_a_thief_and_an_owner_who_claim_it_one_gets_it) {
  probed_slot s;
  auto owner = s.make_owner();
  ASSERT_EQ(owner.put(1), std::nullopt);
  probe::before(op::rmw, 1, [&] { EXPECT_EQ(owner.take(), 1); });
  EXPECT_EQ(s.make_thief().steal(0).status, steal_status::lost);
  EXPECT_TRUE(probe::happened());
  ASSERT_EQ(owner.put(2), std::nullopt);
  probe::before(op::rmw, 1, [&] { EXPECT_EQ(s.make_thief().steal(0).value, 2); });
  EXPECT_EQ(owner.take(), std::nullopt);
  EXPECT_TRUE(probe::happened());
}

TEST(runnext, a_put_displaces_nothing_when_a_thief_was_quicker) {
  probed_slot s;
  auto owner = s.make_owner();
  ASSERT_EQ(owner.put(1), std::nullopt);
  probe::before(op::rmw, 1, [&] { EXPECT_EQ(s.make_thief().steal(0).value, 1); });
  EXPECT_EQ(owner.put(2), std::nullopt);
  EXPECT_TRUE(probe::happened());
  EXPECT_EQ(owner.take(), 2);
}

TEST(runnext, a_task_that_left_and_came_back_may_be_stolen) {
  // The task is runnable again, so the thread that claims it may run it. So the ABA case is harmless.
  probed_slot s;
  auto owner = s.make_owner();
  ASSERT_EQ(owner.put(1), std::nullopt);
  probe::before(op::rmw, 1, [&] {
    EXPECT_EQ(owner.take(), 1);
    EXPECT_EQ(owner.put(1), std::nullopt);
  });
  EXPECT_EQ(s.make_thief().steal(0).value, 1);
  EXPECT_EQ(owner.take(), std::nullopt);
}

TEST(runnext, has_work_approx_says_whether_it_is_filled) {
  slot s;
  auto owner = s.make_owner();
  const auto thief = s.make_thief();
  EXPECT_FALSE(thief.has_work_approx());
  EXPECT_EQ(owner.put(1), std::nullopt);
  EXPECT_TRUE(thief.has_work_approx());
  EXPECT_EQ(owner.take(), 1);
  EXPECT_FALSE(thief.has_work_approx());
}

TEST(runnext, has_work_answers_as_its_hint_does_and_changes_nothing) {
  slot s;
  auto owner = s.make_owner();
  const auto thief = s.make_thief();
  EXPECT_FALSE(thief.has_work());
  EXPECT_FALSE(owner.occupied());
  EXPECT_EQ(owner.put(1), std::nullopt);
  EXPECT_TRUE(thief.has_work());
  EXPECT_TRUE(owner.occupied());
  EXPECT_EQ(owner.take(), 1);
  EXPECT_FALSE(thief.has_work());
  EXPECT_FALSE(owner.occupied());
}

// has_work() is totally ordered with put() only because it is a read-modify-write of the slot, and not a load.
TEST(runnext, has_work_is_one_read_modify_write) {
  probed_slot s;
  probe::reset();
  EXPECT_FALSE(s.make_thief().has_work());
  EXPECT_EQ(probe::count(op::rmw), 1U);
  EXPECT_EQ(probe::atomics(), 1U);
}

TEST(runnext, Q2_a_put_makes_one_read_modify_write_and_a_take_at_most_one) {
  probed_slot s;
  auto owner = s.make_owner();
  probe::reset();
  EXPECT_EQ(owner.put(1), std::nullopt);
  EXPECT_EQ(probe::count(op::rmw), 1U);
  EXPECT_EQ(owner.take(), 1);
  EXPECT_EQ(probe::count(op::rmw), 2U);
  EXPECT_EQ(owner.take(), std::nullopt);
  EXPECT_EQ(probe::count(op::rmw), 2U);
  EXPECT_EQ(probe::count(op::lock), 0U);
}

void use_a_million_times(slot& s, slot::owner& owner) {
  for (int i = 1; i <= 200'000; ++i) {
    static_cast<void>(owner.put(i));
    static_cast<void>(s.make_thief().has_work_approx());
    static_cast<void>(owner.take());
    static_cast<void>(owner.put(i));
    static_cast<void>(s.make_thief().steal(1));
  }
}

TEST(runnext, Q2_allocates_nothing_in_a_million_operations) {
  slot s;
  auto owner = s.make_owner();
  EXPECT_EQ(runq_test::allocations_during([&] { use_a_million_times(s, owner); }), 0U);
}

TEST(runnext, Q2_makes_no_system_call_in_a_million_operations) {
  if (RUNQ_TEST_SANITIZED) GTEST_SKIP() << "sanitizers make system calls of their own";
  slot s;
  auto owner = s.make_owner();
  EXPECT_EXIT(runq_test::exit_0_unless_it_enters_the_kernel([&] { use_a_million_times(s, owner); }),
              testing::ExitedWithCode(0), "");
}

// ---- handles --------------------------------------------------------------------------------------------------------

static_assert(std::is_nothrow_move_constructible_v<slot::owner> && std::is_nothrow_move_assignable_v<slot::owner>);
static_assert(!std::is_copy_constructible_v<slot::owner> && !std::is_copy_assignable_v<slot::owner>);
static_assert(!std::is_default_constructible_v<slot::owner>);
static_assert(std::is_nothrow_copy_constructible_v<slot::thief> && std::is_nothrow_copy_assignable_v<slot::thief>);
static_assert(!std::is_copy_constructible_v<slot> && !std::is_move_constructible_v<slot>);
static_assert(sizeof(runq::runnext<void*>) == runq::cache_line);

TEST(runnext, a_moved_owner_goes_on_where_it_was) {
  slot s;
  auto first = s.make_owner();
  EXPECT_EQ(first.put(1), std::nullopt);
  auto second = std::move(first);
  EXPECT_EQ(second.put(2), 1);
  EXPECT_EQ(second.take(), 2);
}

TEST(runnext, a_move_hands_the_slot_to_another_thread) {
  slot s;
  auto owner = s.make_owner();
  EXPECT_EQ(owner.put(1), std::nullopt);
  std::thread([theirs = std::move(owner)]() mutable { EXPECT_EQ(theirs.take(), 1); }).join();
}

TEST(runnext, rebind_hands_the_slot_to_another_thread) {
  slot s;
  auto owner = s.make_owner();
  EXPECT_EQ(owner.put(1), std::nullopt);
  owner.rebind();
  std::thread([&owner] { EXPECT_EQ(owner.take(), 1); }).join();
}

// ---- contracts, in debug builds -------------------------------------------------------------------------------------

TEST(runnext_contract, a_put_of_the_empty_value_stops_the_program) {
  slot s;
  auto owner = s.make_owner();
  RUNQ_EXPECT_CONTRACT_VIOLATION(static_cast<void>(owner.put(0)), "runq: runnext: the empty value cannot be stored");
}

TEST(runnext_contract, a_put_from_a_second_thread_stops_the_program) {
  slot s;
  auto owner = s.make_owner();
  EXPECT_EQ(owner.put(1), std::nullopt);
  RUNQ_EXPECT_CONTRACT_VIOLATION(std::thread([&owner] { static_cast<void>(owner.put(2)); }).join(),
                                 "runnext: an owner operation was called from a second thread");
}

TEST(runnext_contract, a_second_owner_stops_the_program) {
  slot s;
  const auto owner = s.make_owner();
  RUNQ_EXPECT_CONTRACT_VIOLATION(static_cast<void>(s.make_owner()), "runnext: make_owner\\(\\) was called twice");
}

TEST(runnext, an_owner_may_follow_one_that_is_gone) {
  slot s;
  for (int i = 1; i <= 3; ++i) {
    auto owner = s.make_owner();
    EXPECT_EQ(owner.put(i), std::nullopt);
    EXPECT_EQ(owner.take(), i);
  }
  auto first = s.make_owner();
  slot other;
  first = other.make_owner();
  auto second = s.make_owner();
  EXPECT_EQ(second.put(4), std::nullopt);
  EXPECT_EQ(first.take(), std::nullopt);
}

TEST(runnext_contract, the_use_of_a_moved_from_owner_stops_the_program) {
  slot s;
  auto owner = s.make_owner();
  const auto now = std::move(owner);
  // NOLINTNEXTLINE(bugprone-use-after-move): the mistake is what is tested
  RUNQ_EXPECT_CONTRACT_VIOLATION(static_cast<void>(owner.take()), "this owner handle has been moved from");
}

}  // namespace
