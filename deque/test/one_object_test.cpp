// SPDX-License-Identifier: MIT
// A queue that is one object: the same answers as by its handles, and moved while nobody uses it.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <runq/chase_lev.hpp>
#include <runq/local_queue.hpp>
#include <runq/one_object.hpp>
#include <runq/ring.hpp>
#include <runq/split_deque.hpp>
#include <runq/split_ring.hpp>

#include "support.hpp"

namespace {

struct task {
  int number = 0;
  runq::inject_link<task> link{};
};

using deque = runq::one_object<runq::chase_lev<int>>;
using bounded = runq::one_object<runq::bounded_chase_lev<int>>;
using ring = runq::one_object<runq::ring<int>>;
using local = runq::one_object<runq::local_queue<&task::link>>;
using split_ring = runq::one_object<runq::split_ring<int>>;
using split_deque = runq::one_object<runq::split_deque<int>>;

template <class Object>
std::vector<int> popped(Object& from) {
  std::vector<int> all;
  while (const std::optional<int> one = from.pop()) all.push_back(*one);
  return all;
}

TEST(one_object, a_deque_pops_the_newest_and_gives_the_oldest_away) {
  deque d;
  EXPECT_TRUE(d.empty());
  for (int i = 1; i <= 100; ++i) EXPECT_TRUE(d.push(i));
  EXPECT_EQ(d.size(), 100U);
  EXPECT_EQ(d.capacity(), 128U);
  EXPECT_EQ(d.pop(), 100);
  EXPECT_EQ(d.steal().value_or(0), 1);
  const std::array<int, 3> more{101, 102, 103};
  EXPECT_EQ(d.push_batch(std::span<const int>(more)), 3U);
  EXPECT_EQ(d.push_batch(more.begin(), more.end()).count, 3U);
  EXPECT_EQ(d.size(), 104U);
}

TEST(one_object, a_bounded_deque_says_no) {
  bounded d(4);
  for (int i = 1; i <= 4; ++i) EXPECT_TRUE(d.push(i));
  EXPECT_FALSE(d.push(5));
  EXPECT_EQ(d.capacity(), 4U);
}

TEST(one_object, a_ring_is_first_in_first_out) {
  ring r;
  for (int i = 1; i <= 256; ++i) EXPECT_TRUE(r.push(i));
  EXPECT_FALSE(r.push(257));
  EXPECT_EQ(r.capacity(), 256U);
  EXPECT_EQ(r.steal().value_or(0), 1);
  EXPECT_EQ(r.pop(), 2);
  ring mine;
  auto into = mine.make_owner();
  EXPECT_EQ(r.make_thief().steal_half_into(into).count, 127U);
  EXPECT_EQ(mine.size(), 126U);
  std::array<int, 256> loot{};
  EXPECT_EQ(r.steal_half(loot).count, 64U);
  EXPECT_EQ(loot[0], 130);
}

TEST(one_object, a_split_ring_gives_away_what_is_not_in_its_run) {
  split_ring r;
  std::array<int, 256> all{};
  for (int i = 0; i != 256; ++i) all[static_cast<std::size_t>(i)] = i + 1;
  EXPECT_EQ(r.push_batch(std::span<const int>(all)), 256U);
  EXPECT_FALSE(r.push(257));
  EXPECT_EQ(r.capacity(), 256U);
  EXPECT_EQ(r.pop(), 1);  // the run is 1 … 16
  EXPECT_EQ(r.steal().value_or(0), 17);
  std::array<int, 256> loot{};
  EXPECT_EQ(r.steal_half(loot).count, 120U);
  EXPECT_EQ(loot[0], 18);
  EXPECT_EQ(r.size(), 134U);
}

TEST(one_object, a_split_deque_pops_the_newest_and_gives_half_of_the_oldest_away) {
  split_deque d(0xFFFF'FFF0);
  EXPECT_TRUE(d.empty());
  for (int i = 1; i <= 256; ++i) EXPECT_TRUE(d.push(i));
  EXPECT_FALSE(d.push(257));
  EXPECT_EQ(d.capacity(), 256U);
  EXPECT_EQ(d.pop(), 256);
  EXPECT_EQ(d.steal().value_or(0), 1);
  std::array<int, 256> loot{};
  const auto got = d.steal_half(loot);
  EXPECT_GT(got.count, 100U);
  EXPECT_EQ(loot[0], 2);
  EXPECT_EQ(d.size(), 254U - got.count);
}

TEST(one_object, a_local_queue_steals_from_another_one) {
  runq::inject<&task::link> global;
  local victim(global);
  local mine(global);
  std::array<task, 4> t;
  for (task& one : t) EXPECT_EQ(victim.push(&one), 0U);
  EXPECT_EQ(mine.steal_from(victim).value, &t[1]);
  EXPECT_EQ(mine.pop().task, &t[0]);
  EXPECT_EQ(mine.push_next(&t[0]), 0U);
  EXPECT_EQ(mine.push(&t[1]), 0U);
  EXPECT_FALSE(mine.empty());
  EXPECT_EQ(mine.size(), 1U);  // runnext is not counted
  EXPECT_EQ(victim.steal_from(mine, runq::steal_runnext::yes).value, &t[1]);
  EXPECT_EQ(victim.steal_from(mine, runq::steal_runnext::yes).value, &t[0]);
  EXPECT_EQ(victim.pop().task, &t[2]);
  EXPECT_EQ(victim.pop().task, &t[3]);
  EXPECT_TRUE(victim.empty() && mine.empty());
}

TEST(one_object, it_moves_and_does_not_copy) {
  static_assert(std::is_nothrow_move_constructible_v<deque> && std::is_nothrow_move_assignable_v<deque>);
  static_assert(std::is_nothrow_move_constructible_v<ring> && std::is_nothrow_move_assignable_v<local>);
  static_assert(std::is_nothrow_move_constructible_v<split_ring> && std::is_nothrow_move_assignable_v<split_deque>);
  static_assert(!std::is_copy_constructible_v<deque> && !std::is_copy_assignable_v<deque>);
  // A queue with handles does not move: they would point to where it was.
  static_assert(!std::is_move_constructible_v<runq::chase_lev<int>> && !std::is_move_constructible_v<runq::ring<int>>);
  static_assert(!std::is_move_constructible_v<runq::split_deque<int>>);
  static_assert(!std::is_move_constructible_v<runq::split_ring<int>>);
}

TEST(one_object, elements_go_with_it_in_order) {
  deque d(2);
  ring r;
  for (int i = 1; i <= 5; ++i) {
    EXPECT_TRUE(d.push(i));
    EXPECT_TRUE(r.push(i));
  }
  EXPECT_EQ(d.steal().value, 1);
  EXPECT_EQ(r.steal().value, 1);
  deque other_deque = std::move(d);
  ring other_ring = std::move(r);
  EXPECT_TRUE(d.empty() && r.empty());
  EXPECT_EQ(popped(other_deque), (std::vector{5, 4, 3, 2}));
  EXPECT_EQ(popped(other_ring), (std::vector{2, 3, 4, 5}));
  // What they were moved from can be used again.
  EXPECT_TRUE(d.push(6) && r.push(6));
  EXPECT_EQ(popped(d), std::vector{6});
  EXPECT_EQ(popped(r), std::vector{6});
}

// The indices cross 2^32, and their lower halves 2^16, while the elements are inside.
template <class Object>
void moves_in_the_middle(std::uint32_t first, bool newest_first) {
  Object queue(first);
  for (int i = 1; i <= 256; ++i) EXPECT_TRUE(queue.push(i));
  EXPECT_TRUE(queue.pop());
  std::array<int, 40> loot{};
  EXPECT_EQ(queue.steal_half(loot).count, 40U);
  Object other = std::move(queue);
  EXPECT_TRUE(queue.empty() && !queue.pop());
  EXPECT_EQ(queue.size(), 0U);
  EXPECT_EQ(queue.steal().status, runq::steal_status::empty);
  EXPECT_EQ(other.size(), 215U);
  for (int i = 1; i <= 256; ++i) EXPECT_TRUE(queue.push(i)) << "what it was moved from holds as many as before";
  EXPECT_FALSE(queue.push(257));
  std::vector<int> expected;
  if (newest_first) {
    for (int i = 255; i != 40; --i) expected.push_back(i);  // 1 … 40 are stolen, 256 is popped
  } else {
    for (int i = 2; i <= 256; ++i) {
      if (i <= 16 || i > 56) expected.push_back(i);  // 1 is popped, 17 … 56 are stolen
    }
  }
  EXPECT_EQ(popped(other), expected);
  queue = std::move(other);
  EXPECT_TRUE(queue.empty() && other.empty());
  EXPECT_TRUE(queue.push(7) && other.push(8));
  EXPECT_EQ(popped(queue), std::vector{7});
  EXPECT_EQ(popped(other), std::vector{8});
}

TEST(one_object, a_split_ring_moves_with_its_run_and_the_gap_behind_it) {
  for (const std::uint32_t first : {0U, 0xFFFFU - 30, 0xFFFF'FFFFU - 100}) {
    moves_in_the_middle<split_ring>(first, false);
  }
}

TEST(one_object, a_split_deque_moves_with_what_is_public_and_what_is_private) {
  for (const std::uint32_t first : {0U, 0xFFFFU - 30, 0xFFFF'FFFFU - 100}) {
    moves_in_the_middle<split_deque>(first, true);
  }
}

TEST(one_object, a_full_ring_and_a_full_local_queue_move) {
  ring r;
  runq::inject<&task::link> global;
  local q(global);
  std::vector<task> tasks(257);
  for (int i = 0; i != 256; ++i) {
    EXPECT_TRUE(r.push(i));
    EXPECT_EQ(q.push(&tasks[static_cast<std::size_t>(i)]), 0U);
  }
  EXPECT_EQ(q.push_next(&tasks[256]), 0U);
  ring other_ring = std::move(r);
  local other = std::move(q);
  EXPECT_EQ(other_ring.size(), 256U);
  EXPECT_EQ(other.pop().task, &tasks[256]);
  for (int i = 0; i != 256; ++i) {
    EXPECT_EQ(other_ring.pop(), i);
    EXPECT_EQ(other.pop().task, &tasks[static_cast<std::size_t>(i)]);
  }
  EXPECT_TRUE(other.empty() && q.empty() && !global.has_work());
}

TEST(one_object, a_bounded_deque_takes_its_capacity_along) {
  bounded d(4);
  EXPECT_TRUE(d.push(1));
  bounded other = std::move(d);
  EXPECT_EQ(other.capacity(), 4U);
  EXPECT_EQ(d.capacity(), 0U);
  EXPECT_FALSE(d.push(2) || d.pop() || d.steal());
  d = std::move(other);
  EXPECT_EQ(popped(d), std::vector{1});
}

TEST(one_object, moving_a_deque_allocates_nothing) {
  deque d;
  for (int i = 0; i != 100; ++i) EXPECT_TRUE(d.push(i));
  EXPECT_EQ(runq_test::allocations_during([&] {
              deque other = std::move(d);
              d = std::move(other);
            }),
            0U);
  EXPECT_EQ(d.size(), 100U);
}

TEST(one_object, a_deque_that_moves_takes_its_source_of_memory_along) {
  runq_test::counting_source source;
  {
    runq::one_object<runq::chase_lev<int>> first(2, source);
    EXPECT_TRUE(first.push(1));
    runq::one_object<runq::chase_lev<int>> second(std::move(first));
    for (int i = 2; i <= 5; ++i) EXPECT_TRUE(second.push(i));
    EXPECT_EQ(source.held, 3) << "arrays of 2, 4 and 8";
    EXPECT_TRUE(first.push(6)) << "the former object still knows its source";
    EXPECT_EQ(source.held, 4);
    for (int i = 5; i >= 1; --i) EXPECT_EQ(second.pop(), i);
  }
  EXPECT_EQ(source.bytes_held, 0U);
}

TEST(one_object, a_vector_of_workers_may_grow_before_they_start) {
  std::vector<deque> workers;
  for (int i = 0; i != 9; ++i) {
    workers.emplace_back(2U);
    EXPECT_TRUE(workers.back().push(i));
  }
  for (int i = 0; i != 9; ++i) EXPECT_EQ(workers[static_cast<std::size_t>(i)].pop(), i);
}

TEST(one_object, no_build_asks_which_thread_the_owner_is) {
  deque d;
  std::thread([&] { EXPECT_TRUE(d.push(1)); }).join();
  std::thread([&] { EXPECT_TRUE(d.push(2)); }).join();
  auto first = d.make_owner();
  auto second = d.make_owner();
  EXPECT_EQ(first.pop(), 2);
  EXPECT_EQ(second.pop(), 1);
}

// Every element comes out once, whoever takes it.
template <class Object>
void shared_with_a_thief(Object& queue, int elements) {
  std::vector<std::uint8_t> seen(static_cast<std::size_t>(elements));
  std::atomic<bool> done{false};
  std::vector<int> stolen;
  std::thread thief([&] {
    while (!done.load(std::memory_order::acquire) || !queue.empty()) {
      if (const auto got = queue.steal()) stolen.push_back(got.value);
    }
  });
  std::vector<int> mine;
  for (int i = 0; i != elements; ++i) {
    if (!queue.push(i)) mine.push_back(i);
    if (i % 3 == 0) {
      if (const auto got = queue.pop()) mine.push_back(*got);
    }
  }
  done.store(true, std::memory_order::release);
  thief.join();
  for (const int i : mine) ++seen[static_cast<std::size_t>(i)];
  for (const int i : stolen) ++seen[static_cast<std::size_t>(i)];
  for (const std::uint8_t times : seen) EXPECT_EQ(times, 1);
}

TEST(one_object, an_owner_and_a_thief_share_a_deque) {
  deque d(2);
  shared_with_a_thief(d, 20'000);
}
TEST(one_object, an_owner_and_a_thief_share_a_bounded_deque) {
  bounded d(16);
  shared_with_a_thief(d, 20'000);
}
TEST(one_object, an_owner_and_a_thief_share_a_ring) {
  ring r;
  shared_with_a_thief(r, 20'000);
}
TEST(one_object, an_owner_and_a_thief_share_a_split_ring) {
  split_ring r;
  shared_with_a_thief(r, 20'000);
}
TEST(one_object, an_owner_and_a_thief_share_a_split_deque) {
  split_deque d;
  shared_with_a_thief(d, 20'000);
}

}  // namespace
