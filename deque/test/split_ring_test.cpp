// SPDX-License-Identifier: MIT
// The rules of split_ring, one test each.
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
#include <runq/split_ring.hpp>

#include "support.hpp"

namespace {

using runq::steal_status;
using runq_test::from_to;
using runq_test::numbers;
using runq_test::op;
using runq_test::pop_all;
using runq_test::probe;
using runq_test::push_all;

using probed_ring =
    runq::basic_split_ring<int, 8, runq::split_ring_options{.run = 4, .tries = 1, .polls = 0, .tag_bits = 37},
                           runq_test::probe_atomics>;
using small_ring = runq::basic_split_ring<int, 8, runq::split_ring_options{.run = 4}>;

// ---- the owner ------------------------------------------------------------------------------------------------------

TEST(split_ring, holds_256_in_order_and_refuses_the_257th) {
  runq::split_ring<int> r;
  auto owner = r.make_owner();
  EXPECT_EQ(runq::split_ring<int>::capacity(), 256U);
  push_all(owner, from_to(1, 256));
  EXPECT_EQ(owner.size_approx(), 256U);
  EXPECT_FALSE(owner.push(257));
  EXPECT_EQ(owner.size_approx(), 256U);
  EXPECT_EQ(pop_all(owner), from_to(1, 256));
}

TEST(split_ring, each_element_alone_comes_back_and_leaves_it_empty) {
  runq::split_ring<int> r(0xFFFF'FF00U);
  auto owner = r.make_owner();
  for (int i = 0; i != 70'000; ++i) {
    ASSERT_FALSE(owner.pop().has_value());
    ASSERT_FALSE(r.make_thief().has_work());
    ASSERT_TRUE(owner.push(i));
    ASSERT_TRUE(r.make_thief().has_work());
    ASSERT_EQ(owner.size_approx(), 1U);
    ASSERT_EQ(owner.pop(), i);
  }
}

TEST(split_ring, a_push_writes_two_words_and_reads_none_that_thieves_write) {
  probed_ring r;
  auto owner = r.make_owner();
  probe::reset();
  ASSERT_TRUE(owner.push(1));
  EXPECT_EQ(probe::count(op::load), 2U);  // the head and the tail, which only the owner writes
  EXPECT_EQ(probe::count(op::store), 2U);
  EXPECT_EQ(probe::count(op::rmw), 0U);
}

TEST(split_ring, the_owner_makes_one_read_modify_write_for_each_run_of_pops) {
  probed_ring r;
  auto owner = r.make_owner();
  push_all(owner, from_to(1, 8));
  probe::reset();
  EXPECT_EQ(pop_all(owner), from_to(1, 8));
  EXPECT_EQ(probe::count(op::rmw), 2U);  // eight pops, in runs of four
}

TEST(split_ring, one_push_and_one_pop_at_a_time_make_one_read_modify_write_for_each_run) {
  probed_ring r;
  auto owner = r.make_owner();
  probe::reset();
  for (int i = 0; i != 40; ++i) {
    ASSERT_TRUE(owner.push(i));
    ASSERT_EQ(owner.pop(), i);
  }
  EXPECT_EQ(probe::count(op::rmw), 10U);
}

// Makes many operations of every kind.
void use_it(runq::split_ring<int>::owner& owner, runq::split_ring<int>::owner& other) {
  for (int i = 0; i != 100'000; ++i) {
    for (int k = 0; k != 4; ++k) static_cast<void>(owner.push(i));
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

TEST(split_ring, allocates_nothing) {
  runq::split_ring<int> mine;
  runq::split_ring<int> theirs;
  auto owner = mine.make_owner();
  auto other = theirs.make_owner();
  EXPECT_EQ(runq_test::allocations_during([&] { use_it(owner, other); }), 0U);
}

TEST(split_ring, a_batch_is_queued_in_order_as_far_as_it_fits) {
  runq_test::expect_batches_as_far_as_they_fit<runq::basic_split_ring<int, 8, runq::split_ring_options{.run = 2}>>(
      0xFFFF'FFFCU);
}

TEST(split_ring, a_batch_is_published_all_at_once) { runq_test::expect_a_batch_to_be_published_at_once<probed_ring>(); }

// ---- thieves --------------------------------------------------------------------------------------------------------

TEST(split_ring, a_thief_takes_ceil_of_half_of_what_is_public_and_returns_the_newest) {
  for (int n = 0; n <= 256; ++n) {
    runq::split_ring<int> victim(static_cast<std::uint32_t>(n) * 3);
    runq::split_ring<int> idle(static_cast<std::uint32_t>(n) * 11);
    auto owner = victim.make_owner();
    auto mine = idle.make_owner();
    push_all(owner, from_to(1, n));  // nothing was popped yet, so there is no run, and all of it is public
    const auto loot = victim.make_thief().steal_half_into(mine);
    const int stolen = n - n / 2;
    ASSERT_EQ(loot.status, n == 0 ? steal_status::empty : steal_status::taken);
    ASSERT_EQ(loot.count, static_cast<std::size_t>(stolen));
    if (n != 0) {
      ASSERT_EQ(loot.value, stolen);
      ASSERT_EQ(pop_all(mine), from_to(1, stolen - 1));
    }
    ASSERT_EQ(pop_all(owner), from_to(stolen + 1, n));
  }
}

TEST(split_ring, a_thief_takes_what_is_public_before_it_takes_from_the_run) {
  small_ring r;
  auto owner = r.make_owner();
  push_all(owner, from_to(1, 6));
  EXPECT_EQ(owner.pop(), 1);  // the run is 1 … 4
  EXPECT_EQ(r.make_thief().steal().value, 5);
  EXPECT_EQ(r.make_thief().steal().value, 6);
  EXPECT_EQ(r.make_thief().steal().value, 4);  // behind a gap: the newest of the run
  EXPECT_EQ(pop_all(owner), (numbers{2, 3}));
}

TEST(split_ring, a_thief_that_takes_half_of_the_run_makes_the_rest_public) {
  probed_ring r;
  auto owner = r.make_owner();
  push_all(owner, from_to(1, 4));
  EXPECT_EQ(owner.pop(), 1);  // the run is 1 … 4, and reaches to the tail
  std::array<int, 8> out{};
  probe::reset();
  EXPECT_EQ(r.make_thief().steal_half(out).count, 2U);
  EXPECT_EQ(probe::count(op::rmw), 2U);  // a request and a claim
  EXPECT_EQ((numbers{out[0], out[1]}), (numbers{2, 3}));
  probe::reset();
  EXPECT_EQ(r.make_thief().steal_half(out).count, 1U);
  EXPECT_EQ(probe::count(op::rmw), 1U);  // a claim of what is public
  EXPECT_EQ(out[0], 4);
}

TEST(split_ring, a_thief_empties_a_ring_of_an_owner_that_does_nothing) {
  for (int popped = 0; popped <= 256; popped += 5) {
    runq::split_ring<int> r(0xFFFF'FFF0U);
    auto owner = r.make_owner();
    push_all(owner, from_to(1, 256));
    for (int i = 1; i <= popped; ++i) ASSERT_EQ(owner.pop(), i);
    numbers seen;
    std::array<int, 128> out{};
    const std::uint64_t before = runq::membarrier_atomics::barriers();
    for (;;) {
      const auto loot = r.make_thief().steal_half(out);
      if (loot.status == steal_status::empty) break;
      ASSERT_TRUE(loot);
      seen.insert(seen.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(loot.count));
    }
    std::sort(seen.begin(), seen.end());
    ASSERT_EQ(seen, from_to(popped + 1, 256));
    ASSERT_LE(runq::membarrier_atomics::barriers() - before, 1U);  // what is left becomes public
    ASSERT_FALSE(owner.pop().has_value());
  }
}

TEST(split_ring, a_steal_takes_no_more_than_its_limit_and_the_room) {
  for (const int popped : {0, 1, 17}) {
    for (const std::size_t limit : {1U, 2U, 7U, 256U}) {
      for (const int held : {0, 1, 250, 255, 256}) {
        runq::split_ring<int> victim;
        runq::split_ring<int> idle;
        auto owner = victim.make_owner();
        auto mine = idle.make_owner();
        push_all(owner, from_to(1, 100));
        for (int i = 0; i != popped; ++i) ASSERT_TRUE(owner.pop().has_value());
        push_all(mine, numbers(static_cast<std::size_t>(held), -1));
        const auto loot = victim.make_thief().steal_half_into(mine, limit);
        ASSERT_TRUE(loot);
        ASSERT_LE(loot.count, std::min(limit, 256U - static_cast<std::size_t>(held) + 1));
        ASSERT_EQ(pop_all(mine).size(), static_cast<std::size_t>(held) + loot.count - 1);
        ASSERT_EQ(pop_all(owner).size(), 100U - static_cast<std::size_t>(popped) - loot.count);
      }
    }
  }
}

// ---- races, staged --------------------------------------------------------------------------------------------------

TEST(split_ring, an_owner_that_is_asked_for_its_run_gives_up_half_and_the_thief_loses) {
  probed_ring r;
  auto owner = r.make_owner();
  push_all(owner, from_to(1, 4));
  EXPECT_EQ(owner.pop(), 1);
  // The second read-modify-write of the steal is its claim.
  probe::before(op::rmw, 2, [&] { EXPECT_EQ(owner.pop(), 2); });
  std::array<int, 8> out{};
  EXPECT_EQ(r.make_thief().steal_half(out).status, steal_status::lost);
  EXPECT_TRUE(probe::happened());
  // Of 2, 3 and 4 the owner keeps 2 and 3; now 4 is public.
  EXPECT_EQ(r.make_thief().steal().value, 4);
  EXPECT_EQ(pop_all(owner), (numbers{3}));
}

TEST(split_ring, a_steal_that_loses_the_race_changes_nothing) {
  probed_ring victim;
  probed_ring idle;
  auto owner = victim.make_owner();
  auto mine = idle.make_owner();
  push_all(owner, from_to(1, 8));
  push_all(mine, numbers{70});
  probe::before(op::rmw, 1, [&] { EXPECT_EQ(owner.pop(), 1); });
  const auto loot = victim.make_thief().steal_half_into(mine);
  EXPECT_TRUE(probe::happened());
  EXPECT_EQ(loot.status, steal_status::lost);
  EXPECT_EQ(loot.count, 0U);
  EXPECT_EQ(pop_all(mine), (numbers{70}));
  EXPECT_EQ(pop_all(owner), from_to(2, 8));
}

// Indices are compared by their lower 16 bits. While the thief sleeps behind its look at the word, so many elements
// pass that the tail seems to stand before the word's indices.
TEST(split_ring, a_thief_that_slept_while_40000_elements_passed_does_not_call_the_ring_empty) {
  probed_ring r;
  auto owner = r.make_owner();
  ASSERT_TRUE(owner.push(0));
  probe::reset();
  probe::before(op::load, 2, [&] {
    for (int i = 1; i <= 40'000; ++i) {
      ASSERT_TRUE(owner.push(i));
      ASSERT_EQ(owner.pop(), i - 1);
    }
  });
  EXPECT_EQ(r.make_thief().steal().status, steal_status::lost);
  EXPECT_TRUE(probe::happened());
  EXPECT_EQ(r.make_thief().steal().value, 40'000);
}

// ---- contracts ------------------------------------------------------------------------------------------------------

TEST(split_ring, the_owner_handle_moves_and_a_second_one_is_an_error) {
  runq::split_ring<int> r;
  auto first = r.make_owner();
  ASSERT_TRUE(first.push(1));
  auto second = std::move(first);
  EXPECT_EQ(second.pop(), 1);
  static_assert(!std::is_copy_constructible_v<runq::split_ring<int>::owner>);
  static_assert(std::is_copy_constructible_v<runq::split_ring<int>::thief>);
  RUNQ_EXPECT_CONTRACT_VIOLATION(static_cast<void>(r.make_owner()), "a ring has one owner");
}

TEST(split_ring, a_second_thread_that_pops_is_an_error) {
  runq::split_ring<int> r;
  auto owner = r.make_owner();
  ASSERT_TRUE(owner.push(1));
  RUNQ_EXPECT_CONTRACT_VIOLATION(std::thread([&] { static_cast<void>(owner.pop()); }).join(), "from a second thread");
}

TEST(split_ring, a_steal_into_nothing_or_into_itself_is_an_error) {
  runq::split_ring<int> r;
  [[maybe_unused]] auto owner = r.make_owner();
  RUNQ_EXPECT_CONTRACT_VIOLATION(static_cast<void>(r.make_thief().steal_half(std::span<int>())), "room for at least");
}

}  // namespace
