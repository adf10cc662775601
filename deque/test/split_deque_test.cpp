// SPDX-License-Identifier: MIT
// The rules of split_deque, one test each.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <runq/split_deque.hpp>

#include "support.hpp"

namespace {

using runq::steal_status;
using runq_test::from_to;
using runq_test::numbers;
using runq_test::op;
using runq_test::pop_all;
using runq_test::probe;
using runq_test::push_all;

using probed_deque =
    runq::basic_split_deque<int, 8, runq::split_deque_options{.publish = 4, .tries = 1, .polls = 0, .tag_bits = 37},
                            runq_test::probe_atomics>;
using private_deque =
    runq::basic_split_deque<int, 8, runq::split_deque_options{.publish = 0, .tries = 1, .polls = 0, .tag_bits = 37},
                            runq_test::probe_atomics>;

numbers reversed(numbers n) {
  std::reverse(n.begin(), n.end());
  return n;
}

// ---- the owner ------------------------------------------------------------------------------------------------------

TEST(split_deque, holds_256_refuses_the_257th_and_gives_the_newest_back_first) {
  runq::split_deque<int> d;
  auto owner = d.make_owner();
  EXPECT_EQ(runq::split_deque<int>::capacity(), 256U);
  push_all(owner, from_to(1, 256));
  EXPECT_EQ(owner.size_approx(), 256U);
  EXPECT_FALSE(owner.push(257));
  EXPECT_EQ(pop_all(owner), reversed(from_to(1, 256)));
  EXPECT_EQ(owner.size_approx(), 0U);
}

TEST(split_deque, pop_or_null_takes_the_newest_pointer_and_null_when_it_is_empty) {
  std::array<int, 3> elements{};
  runq::split_deque<int*> d;
  auto owner = d.make_owner();
  EXPECT_EQ(owner.pop_or_null(), nullptr);
  for (int& n : elements) ASSERT_TRUE(owner.push(&n));
  for (std::size_t i = elements.size(); i-- != 0;) EXPECT_EQ(owner.pop_or_null(), &elements[i]);
  EXPECT_EQ(owner.pop_or_null(), nullptr);
}

TEST(split_deque, has_room_again_for_what_thieves_have_taken) {
  runq::split_deque<int> d(0xFFFF'FFF0U);
  auto owner = d.make_owner();
  push_all(owner, from_to(1, 256));
  for (int i = 1; i <= 100; ++i) {
    ASSERT_FALSE(owner.push(0));
    ASSERT_EQ(d.make_thief().steal().value, i);
    ASSERT_TRUE(owner.push(256 + i));
  }
  EXPECT_EQ(pop_all(owner), reversed(from_to(101, 356)));
}

TEST(split_deque, the_index_of_the_oldest_changes_when_that_element_is_stolen) {
  runq::split_deque<int> d(0xFFFF'FF00U);
  auto owner = d.make_owner();
  const auto thief = d.make_thief();
  ASSERT_TRUE(owner.push(1));
  const std::size_t first = thief.oldest_approx();
  ASSERT_TRUE(owner.push(2));
  EXPECT_EQ(thief.oldest_approx(), first);
  EXPECT_TRUE(thief.steal());
  EXPECT_NE(thief.oldest_approx(), first);
}

TEST(split_deque, each_element_alone_comes_back_and_leaves_it_empty) {
  runq::split_deque<int> d(0xFFFF'FF00U);
  auto owner = d.make_owner();
  for (int i = 0; i != 1'000; ++i) {
    ASSERT_FALSE(owner.pop().has_value());
    ASSERT_FALSE(d.make_thief().has_work());
    ASSERT_TRUE(owner.push(i));
    ASSERT_TRUE(d.make_thief().has_work());
    ASSERT_EQ(owner.size_approx(), 1U);
    if (i % 2 == 0) {
      ASSERT_EQ(owner.pop(), i);
    } else {
      ASSERT_EQ(d.make_thief().steal().value, i);
    }
  }
}

TEST(split_deque, a_push_and_a_pop_of_private_elements_make_no_read_modify_write) {
  probed_deque d;
  auto owner = d.make_owner();
  ASSERT_TRUE(owner.push(0));
  probe::reset();
  for (int i = 1; i != 1'000; ++i) {
    ASSERT_TRUE(owner.push(i));
    ASSERT_EQ(owner.pop(), i);
  }
  EXPECT_EQ(probe::count(op::rmw), 0U);
}

TEST(split_deque, a_push_makes_half_of_many_private_elements_public_by_one_read_modify_write) {
  probed_deque d;
  auto owner = d.make_owner();
  probe::reset();
  push_all(owner, from_to(1, 4));
  EXPECT_EQ(probe::count(op::rmw), 0U);
  push_all(owner, {5});
  EXPECT_EQ(probe::count(op::rmw), 1U);  // 1 and 2 are public
  probe::reset();
  EXPECT_EQ(d.make_thief().steal().value, 1);
  EXPECT_EQ(probe::count(op::rmw), 1U);  // a claim, and no request
}

// Makes many operations of every kind.
void use_it(runq::split_deque<int>::owner& owner, runq::split_deque<int>::owner& other) {
  for (int i = 0; i != 20'000; ++i) {
    for (int k = 0; k != 30; ++k) static_cast<void>(owner.push(i));
    static_cast<void>(owner.pop());
    static_cast<void>(owner.make_thief().steal_half_into(other));
    static_cast<void>(owner.make_thief().steal());
    std::array<int, 128> out{};
    static_cast<void>(owner.make_thief().steal_half(out));
    static_cast<void>(owner.make_thief().has_work());
    static_cast<void>(owner.size_approx());
    while (owner.pop()) continue;
    while (other.pop()) continue;
  }
}

TEST(split_deque, allocates_nothing) {
  runq::split_deque<int> mine;
  runq::split_deque<int> theirs;
  auto owner = mine.make_owner();
  auto other = theirs.make_owner();
  EXPECT_EQ(runq_test::allocations_during([&] { use_it(owner, other); }), 0U);
}

// ---- thieves --------------------------------------------------------------------------------------------------------

TEST(split_deque, a_thief_that_takes_half_of_what_is_private_makes_the_rest_public) {
  private_deque d;
  auto owner = d.make_owner();
  push_all(owner, from_to(1, 5));
  std::array<int, 8> out{};
  probe::reset();
  EXPECT_EQ(d.make_thief().steal_half(out).count, 3U);
  EXPECT_EQ(probe::count(op::rmw), 2U);  // a request and a claim
  EXPECT_EQ((numbers{out[0], out[1], out[2]}), (numbers{1, 2, 3}));
  probe::reset();
  EXPECT_EQ(d.make_thief().steal().value, 4);
  EXPECT_EQ(probe::count(op::rmw), 1U);  // a claim of what is public
  EXPECT_EQ(pop_all(owner), (numbers{5}));
}

TEST(split_deque, a_thief_empties_a_deque_of_an_owner_that_does_nothing) {
  for (int popped = 0; popped <= 256; popped += 5) {
    runq::split_deque<int> d(0xFFFF'FFF0U);
    auto owner = d.make_owner();
    push_all(owner, from_to(1, 256));
    for (int i = 0; i != popped; ++i) ASSERT_EQ(owner.pop(), 256 - i);
    numbers seen;
    std::array<int, 128> out{};
    const std::uint64_t before = runq::membarrier_atomics::barriers();
    for (;;) {
      const auto loot = d.make_thief().steal_half(out);
      if (loot.status == steal_status::empty) break;
      ASSERT_TRUE(loot);
      seen.insert(seen.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(loot.count));
    }
    ASSERT_EQ(seen, from_to(1, 256 - popped));
    ASSERT_LE(runq::membarrier_atomics::barriers() - before, 1U);  // what is left becomes public
    ASSERT_FALSE(owner.pop().has_value());
  }
}

TEST(split_deque, a_steal_takes_no_more_than_its_limit_and_the_room_and_returns_the_newest) {
  for (const std::size_t limit : {1U, 2U, 7U, 256U}) {
    for (const int held : {0, 1, 250, 255, 256}) {
      runq::split_deque<int> victim;
      runq::split_deque<int> idle;
      auto owner = victim.make_owner();
      auto mine = idle.make_owner();
      push_all(owner, from_to(1, 100));
      push_all(mine, numbers(static_cast<std::size_t>(held), -1));
      const auto loot = victim.make_thief().steal_half_into(mine, limit);
      ASSERT_TRUE(loot);
      ASSERT_LE(loot.count, std::min(limit, 256U - static_cast<std::size_t>(held) + 1));
      ASSERT_EQ(loot.value, static_cast<int>(loot.count));
      for (int i = loot.value - 1; i != 0; --i) ASSERT_EQ(mine.pop(), i);
      ASSERT_EQ(pop_all(mine).size(), static_cast<std::size_t>(held));
      ASSERT_EQ(pop_all(owner), reversed(from_to(loot.value + 1, 100)));
    }
  }
}

// ---- races, staged --------------------------------------------------------------------------------------------------

TEST(split_deque, an_owner_that_is_asked_keeps_the_newer_half_and_the_thief_loses) {
  private_deque d;
  auto owner = d.make_owner();
  push_all(owner, from_to(1, 5));
  // The second read-modify-write of the steal is its claim.
  probe::before(op::rmw, 2, [&] { EXPECT_EQ(owner.pop(), 5); });
  std::array<int, 8> out{};
  EXPECT_EQ(d.make_thief().steal_half(out).status, steal_status::lost);
  EXPECT_TRUE(probe::happened());
  probe::reset();
  EXPECT_EQ(d.make_thief().steal().value, 1);
  EXPECT_EQ(probe::count(op::rmw), 1U);  // the owner has made it public
  EXPECT_EQ(pop_all(owner), (numbers{4, 3, 2}));
}

TEST(split_deque, a_pop_from_an_empty_deque_that_a_thief_has_asked_finds_nothing) {
  private_deque d;
  auto owner = d.make_owner();
  ASSERT_TRUE(owner.push(1));
  // The owner takes the only element after the thief has looked and before it asks. The thief's request stays in the
  // word.
  probe::before(op::rmw, 1, [&] { EXPECT_EQ(owner.pop(), 1); });
  EXPECT_EQ(d.make_thief().steal().status, steal_status::empty);
  EXPECT_TRUE(probe::happened());
  EXPECT_FALSE(owner.pop().has_value());
  ASSERT_TRUE(owner.push(2));
  EXPECT_EQ(owner.pop(), 2);
}

// ---- contracts ------------------------------------------------------------------------------------------------------

TEST(split_deque, the_owner_handle_moves_and_a_second_one_is_an_error) {
  runq::split_deque<int> d;
  auto first = d.make_owner();
  ASSERT_TRUE(first.push(1));
  auto second = std::move(first);
  EXPECT_EQ(second.pop(), 1);
  static_assert(!std::is_copy_constructible_v<runq::split_deque<int>::owner>);
  static_assert(std::is_copy_constructible_v<runq::split_deque<int>::thief>);
  RUNQ_EXPECT_CONTRACT_VIOLATION(static_cast<void>(d.make_owner()), "a deque has one owner");
}

TEST(split_deque, a_second_thread_that_pops_is_an_error) {
  runq::split_deque<int> d;
  auto owner = d.make_owner();
  ASSERT_TRUE(owner.push(1));
  RUNQ_EXPECT_CONTRACT_VIOLATION(std::thread([&] { static_cast<void>(owner.pop()); }).join(), "from a second thread");
}

}  // namespace
