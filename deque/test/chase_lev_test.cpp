// SPDX-License-Identifier: MIT
// The deque's rules, one test each, on one thread; many threads are in chase_lev_stress_test.cpp, all interleavings of
// small programs in models/cases/queues/chase_lev/.
#include "runq/chase_lev.hpp"

#include <cstdint>
#include <deque>
#include <thread>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

namespace {

using deque = runq::chase_lev<std::uint64_t>;

/// A policy whose memory can run out: the n-th allocation and all after it fail.
struct scarce_atomics : runq::std_atomics {
  static inline int allocations_left = 0;
  static inline int blocks_alive = 0;
  static void* allocate(std::size_t bytes) noexcept {
    if (allocations_left == 0) return nullptr;
    --allocations_left;
    ++blocks_alive;
    return runq::std_atomics::allocate(bytes);
  }
  static void deallocate(void* p) noexcept {
    --blocks_alive;
    runq::std_atomics::deallocate(p);
  }
};
using scarce_deque = runq::basic_chase_lev<std::uint64_t, scarce_atomics>;

TEST(chase_lev, owner_pops_the_newest_first) {
  deque d;
  auto owner = d.make_owner();
  for (std::uint64_t i = 1; i <= 10; ++i) ASSERT_TRUE(owner.push(i));
  for (std::uint64_t i = 10; i >= 1; --i) EXPECT_EQ(owner.pop(), i);
  EXPECT_EQ(owner.pop(), std::nullopt);
}

TEST(chase_lev, thief_takes_the_oldest_first) {
  deque d;
  auto owner = d.make_owner();
  for (std::uint64_t i = 1; i <= 10; ++i) ASSERT_TRUE(owner.push(i));
  const auto thief = d.make_thief();
  for (std::uint64_t i = 1; i <= 10; ++i) {
    const auto got = thief.steal();
    ASSERT_TRUE(got);
    EXPECT_EQ(got.value, i);
    EXPECT_EQ(got.count, 1U);
  }
  EXPECT_EQ(thief.steal().status, runq::steal_status::empty);
}

TEST(chase_lev, pop_and_steal_of_an_empty_deque_find_nothing_and_break_nothing) {
  deque d(2);
  auto owner = d.make_owner();
  const auto thief = d.make_thief();
  EXPECT_EQ(owner.pop(), std::nullopt);
  EXPECT_EQ(thief.steal().status, runq::steal_status::empty);
  for (std::uint64_t round = 0; round != 10; ++round) {
    ASSERT_TRUE(owner.push(round));
    EXPECT_EQ(owner.pop(), round);
    EXPECT_EQ(owner.pop(), std::nullopt);
    EXPECT_EQ(owner.pop(), std::nullopt);
    EXPECT_EQ(thief.steal().status, runq::steal_status::empty);
  }
}

TEST(chase_lev, nothing_is_allocated_before_the_first_push) {
  scarce_atomics::allocations_left = 0;
  scarce_deque d;
  auto owner = d.make_owner();
  EXPECT_EQ(owner.capacity(), 0U);
  EXPECT_EQ(owner.pop(), std::nullopt);
  EXPECT_EQ(d.make_thief().steal().status, runq::steal_status::empty);
  EXPECT_EQ(scarce_atomics::blocks_alive, 0);
}

TEST(chase_lev, grows_by_doubling_and_keeps_order_at_both_ends) {
  deque d(2);
  auto owner = d.make_owner();
  std::deque<std::uint64_t> model;
  const auto thief = d.make_thief();
  std::uint64_t next = 0;
  std::size_t capacity = 0;
  for (int round = 0; round != 200; ++round) {
    for (int i = 0; i != 7; ++i) {
      ASSERT_TRUE(owner.push(next));
      model.push_back(next++);
    }
    ASSERT_EQ(owner.pop(), model.back());
    model.pop_back();
    ASSERT_EQ(thief.steal().value, model.front());
    model.pop_front();
    EXPECT_TRUE(owner.capacity() == capacity || owner.capacity() >= 2 * capacity);
    capacity = owner.capacity();
    EXPECT_EQ(owner.size_approx(), model.size());
  }
  EXPECT_EQ(capacity, 1024U);  // 200 × 5 elements
  for (; !model.empty(); model.pop_front()) ASSERT_EQ(thief.steal().value, model.front());
}

TEST(chase_lev, initial_capacity_is_rounded_up_to_a_power_of_two) {
  deque d(5);
  auto owner = d.make_owner();
  ASSERT_TRUE(owner.push(1));
  EXPECT_EQ(owner.capacity(), 8U);
  deque least(0);
  auto least_owner = least.make_owner();
  ASSERT_TRUE(least_owner.push(1));
  EXPECT_EQ(least_owner.capacity(), 2U);
}

TEST(chase_lev, a_slot_is_used_again_only_after_it_was_emptied) {
  deque d(2);
  auto owner = d.make_owner();
  const auto thief = d.make_thief();
  for (std::uint64_t i = 0; i != 1000; ++i) {
    ASSERT_TRUE(owner.push(2 * i));
    ASSERT_TRUE(owner.push(2 * i + 1));
    ASSERT_EQ(thief.steal().value, 2 * i);
    ASSERT_EQ(thief.steal().value, 2 * i + 1);
  }
  EXPECT_EQ(owner.capacity(), 2U);
}

TEST(chase_lev, push_returns_false_when_memory_runs_out_and_loses_nothing) {
  scarce_atomics::allocations_left = 2;  // arrays of 2 and 4
  {
    scarce_deque d(2);
    auto owner = d.make_owner();
    for (std::uint64_t i = 1; i <= 4; ++i) ASSERT_TRUE(owner.push(i));
    EXPECT_FALSE(owner.push(5));
    EXPECT_FALSE(owner.push(5));
    EXPECT_EQ(owner.size_approx(), 4U);
    EXPECT_EQ(d.make_thief().steal().value, 1U);
    EXPECT_TRUE(owner.push(5));  // there is room again
    for (std::uint64_t i = 5; i >= 2; --i) EXPECT_EQ(owner.pop(), i);
  }
  EXPECT_EQ(scarce_atomics::blocks_alive, 0);
}

TEST(chase_lev, the_first_push_may_fail_and_succeed_later) {
  scarce_atomics::allocations_left = 0;
  {
    scarce_deque d;
    auto owner = d.make_owner();
    EXPECT_FALSE(owner.push(1));
    EXPECT_EQ(owner.pop(), std::nullopt);
    scarce_atomics::allocations_left = 1;
    EXPECT_TRUE(owner.push(1));
    EXPECT_EQ(owner.pop(), 1U);
  }
  EXPECT_EQ(scarce_atomics::blocks_alive, 0);
}

TEST(chase_lev, outgrown_arrays_live_until_the_deque_dies) {
  scarce_atomics::allocations_left = 100;
  {
    scarce_deque d(2);
    auto owner = d.make_owner();
    for (std::uint64_t i = 0; i != 100; ++i) ASSERT_TRUE(owner.push(i));
    EXPECT_EQ(scarce_atomics::blocks_alive, 7);  // 2, 4, … 128
  }
  EXPECT_EQ(scarce_atomics::blocks_alive, 0);
}

TEST(chase_lev, has_work_and_size_agree_when_nobody_else_is_there) {
  deque d;
  auto owner = d.make_owner();
  const auto thief = d.make_thief();
  EXPECT_FALSE(thief.has_work());
  ASSERT_TRUE(owner.push(1));
  ASSERT_TRUE(owner.push(2));
  EXPECT_TRUE(thief.has_work());
  EXPECT_EQ(thief.size_approx(), 2U);
  EXPECT_TRUE(owner.pop().has_value());
  EXPECT_TRUE(thief.has_work());
  EXPECT_TRUE(thief.steal());
  EXPECT_FALSE(thief.has_work());
  EXPECT_EQ(thief.size_approx(), 0U);
}

TEST(chase_lev, the_owner_handle_is_move_only_and_the_thief_handle_is_copyable) {
  static_assert(!std::is_copy_constructible_v<deque::owner> && !std::is_copy_assignable_v<deque::owner>);
  static_assert(std::is_nothrow_move_constructible_v<deque::owner> && std::is_nothrow_move_assignable_v<deque::owner>);
  static_assert(std::is_copy_constructible_v<deque::thief>);
  deque d;
  auto first = d.make_owner();
  ASSERT_TRUE(first.push(1));
  auto second = std::move(first);
  EXPECT_EQ(second.pop(), 1U);
}

TEST(chase_lev, moving_the_owner_hands_the_deque_to_another_thread) {
  deque d;
  auto owner = d.make_owner();
  ASSERT_TRUE(owner.push(1));
  std::thread other([moved = std::move(owner)]() mutable {
    EXPECT_EQ(moved.pop(), 1U);
    EXPECT_TRUE(moved.push(2));
  });
  other.join();
  EXPECT_EQ(d.make_thief().steal().value, 2U);
}

#ifndef NDEBUG
TEST(chase_lev_death, a_second_thread_that_pushes_is_stopped) {
  EXPECT_DEATH(
      {
        deque d;
        auto owner = d.make_owner();
        static_cast<void>(owner.push(1));
        std::thread([&owner] { static_cast<void>(owner.push(2)); }).join();
      },
      "called from a second thread");
}

TEST(chase_lev_death, a_second_owner_is_refused) {
  EXPECT_DEATH(
      {
        deque d;
        auto first = d.make_owner();
        auto second = d.make_owner();
      },
      "make_owner\\(\\) was called twice");
}
#endif

}  // namespace
