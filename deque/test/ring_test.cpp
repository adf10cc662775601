// SPDX-License-Identifier: MIT
// The rules of ring, one test each. Rows Q1, Q2, Q6, Q16 and Q17 of the queue rules; the other rows need more than a
// ring (local_queue_test.cpp) or a scheduler.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <runq/ring.hpp>

#include "support.hpp"

namespace {

using runq::steal_status;
using runq_test::from_to;
using runq_test::narrow;
using runq_test::numbers;
using runq_test::op;
using runq_test::pop_all;
using runq_test::probe;
using runq_test::push_all;

using probed_ring = runq::basic_ring<int, 8, std::uint64_t, runq_test::probe_atomics>;

// ---- the owner ------------------------------------------------------------------------------------------------------

TEST(ring, Q1_holds_256_in_order_and_refuses_the_257th) {
  runq::ring<int> r;
  auto owner = r.make_owner();
  EXPECT_EQ(runq::ring<int>::capacity(), 256U);
  push_all(owner, from_to(1, 256));
  EXPECT_EQ(owner.size_approx(), 256U);
  EXPECT_FALSE(owner.push(257));
  EXPECT_EQ(owner.size_approx(), 256U);
  EXPECT_EQ(pop_all(owner), from_to(1, 256));
}

TEST(ring, Q1_each_of_256_elements_alone_comes_back_and_leaves_it_empty) {
  runq::ring<int> r;
  auto owner = r.make_owner();
  for (int i = 0; i != 256; ++i) {
    ASSERT_FALSE(owner.pop().has_value());
    ASSERT_FALSE(r.make_thief().has_work());
    ASSERT_TRUE(owner.push(i));
    ASSERT_TRUE(r.make_thief().has_work());
    ASSERT_EQ(owner.pop(), i);
    ASSERT_FALSE(owner.pop().has_value());
    ASSERT_FALSE(r.make_thief().has_work());
  }
}

TEST(ring, Q2_a_push_with_room_writes_two_words_and_reads_none_that_thieves_write) {
  probed_ring r;
  auto owner = r.make_owner();
  probe::reset();
  ASSERT_TRUE(owner.push(1));
  EXPECT_EQ(probe::count(op::load), 1U);  // loads the tail, which only the owner writes
  EXPECT_EQ(probe::count(op::store), 2U);
  EXPECT_EQ(probe::count(op::rmw), 0U);
}

TEST(ring, Q2_a_pop_makes_one_read_modify_write_and_none_when_empty) {
  probed_ring r;
  auto owner = r.make_owner();
  ASSERT_TRUE(owner.push(1));
  probe::reset();
  EXPECT_EQ(owner.pop(), 1);
  EXPECT_EQ(probe::count(op::rmw), 1U);
  EXPECT_EQ(owner.pop(), std::nullopt);
  EXPECT_EQ(probe::count(op::rmw), 1U);
  EXPECT_EQ(probe::count(op::lock), 0U);
}

// Makes a million operations of every kind.
void use_a_million_times(runq::ring<int>::owner& owner, runq::ring<int>::owner& other) {
  for (int i = 0; i != 100'000; ++i) {
    static_cast<void>(owner.push(i));
    static_cast<void>(owner.push_batch(std::array{i, i, i}));
    static_cast<void>(owner.pop());
    static_cast<void>(owner.make_thief().steal_half_into(other));
    static_cast<void>(owner.make_thief().steal());
    std::array<int, 128> out{};
    static_cast<void>(owner.make_thief().steal_half(out));
    static_cast<void>(owner.make_thief().has_work());
    static_cast<void>(owner.room());
    static_cast<void>(owner.size_approx());
    static_cast<void>(owner.shed_half(out));
    owner.drain([](int) {});
    other.drain([](int) {});
  }
}

TEST(ring, Q2_allocates_nothing_in_a_million_operations) {
  runq::ring<int> mine;
  runq::ring<int> theirs;
  auto owner = mine.make_owner();
  auto other = theirs.make_owner();
  EXPECT_EQ(runq_test::allocations_during([&] { use_a_million_times(owner, other); }), 0U);
}

TEST(ring, Q2_makes_no_system_call_in_a_million_operations) {
  if (RUNQ_TEST_SANITIZED) GTEST_SKIP() << "sanitizers make system calls of their own";
  runq::ring<int> mine;
  runq::ring<int> theirs;
  auto owner = mine.make_owner();
  auto other = theirs.make_owner();
  EXPECT_EXIT(runq_test::exit_0_unless_it_enters_the_kernel([&] { use_a_million_times(owner, other); }),
              testing::ExitedWithCode(0), "");
}

TEST(ring, a_batch_is_queued_in_order_as_far_as_it_fits) {
  runq_test::expect_batches_as_far_as_they_fit<runq::basic_ring<int, 8>>(5);
}

TEST(ring, a_batch_is_published_all_at_once) { runq_test::expect_a_batch_to_be_published_at_once<probed_ring>(); }

TEST(ring, room_is_what_fits_and_grows_when_thieves_take) {
  runq::basic_ring<int, 8> r;
  auto owner = r.make_owner();
  EXPECT_EQ(owner.room(), 8U);
  push_all(owner, from_to(1, 8));
  EXPECT_EQ(owner.room(), 0U);
  EXPECT_EQ(r.make_thief().steal().value, 1);
  EXPECT_EQ(owner.room(), 1U);
  EXPECT_TRUE(owner.push(9));
  EXPECT_FALSE(owner.push(10));
}

TEST(ring, shed_half_takes_the_older_half_rounded_down) {
  for (int n = 0; n <= 256; ++n) {
    runq::ring<int> r(static_cast<std::uint64_t>(n) * 7);
    auto owner = r.make_owner();
    push_all(owner, from_to(1, n));
    std::array<int, 128> out{};
    const std::size_t shed = owner.shed_half(out);
    ASSERT_EQ(shed, static_cast<std::size_t>(n / 2));
    ASSERT_EQ(numbers(out.begin(), out.begin() + n / 2), from_to(1, n / 2));
    ASSERT_EQ(pop_all(owner), from_to(n / 2 + 1, n));
  }
}

TEST(ring, shed_half_of_full_takes_the_older_half_of_a_full_ring_only) {
  for (int n = 0; n <= 256; ++n) {
    runq::ring<int> r(static_cast<std::uint64_t>(n) * 7);
    auto owner = r.make_owner();
    push_all(owner, from_to(1, n));
    std::array<int, 128> out{};
    const int shed = n == 256 ? 128 : 0;
    ASSERT_EQ(owner.shed_half_of_full(out), static_cast<std::size_t>(shed));
    ASSERT_EQ(numbers(out.begin(), out.begin() + shed), from_to(1, shed));
    ASSERT_EQ(pop_all(owner), from_to(shed + 1, n));
  }
}

TEST(ring, drain_hands_out_everything_oldest_first) {
  for (int n = 0; n <= 256; ++n) {
    runq::ring<int> r(static_cast<std::uint64_t>(n) * 5);
    auto owner = r.make_owner();
    push_all(owner, from_to(1, n));
    numbers out;
    ASSERT_EQ(owner.drain([&out](int value) { out.push_back(value); }), static_cast<std::size_t>(n));
    ASSERT_EQ(out, from_to(1, n));
    ASSERT_FALSE(owner.pop().has_value());
    ASSERT_EQ(owner.room(), 256U);
  }
}

// ---- thieves --------------------------------------------------------------------------------------------------------

TEST(ring, Q6_steal_half_takes_ceil_of_half_and_returns_the_newest) {
  for (int n = 0; n <= 256; ++n) {
    runq::ring<int> victim(static_cast<std::uint64_t>(n) * 3);
    runq::ring<int> idle(static_cast<std::uint64_t>(n) * 11);
    auto owner = victim.make_owner();
    auto mine = idle.make_owner();
    push_all(owner, from_to(1, n));
    const auto loot = victim.make_thief().steal_half_into(mine);
    const int stolen = n - n / 2;
    ASSERT_EQ(loot.status, n == 0 ? steal_status::empty : steal_status::taken);
    ASSERT_EQ(loot.count, static_cast<std::size_t>(stolen));
    ASSERT_LE(loot.count, 128U);
    if (n != 0) {
      ASSERT_EQ(loot.value, stolen);
      ASSERT_EQ(pop_all(mine), from_to(1, stolen - 1));
    }
    ASSERT_EQ(pop_all(owner), from_to(stolen + 1, n));
  }
}

TEST(ring, Q6_of_seven_the_thief_runs_the_fourth_and_keeps_three) {
  runq::ring<int> victim;
  runq::ring<int> idle;
  auto owner = victim.make_owner();
  auto mine = idle.make_owner();
  push_all(owner, from_to(1, 7));
  const auto loot = victim.make_thief().steal_half_into(mine);
  EXPECT_TRUE(loot);
  EXPECT_EQ(loot.value, 4);
  EXPECT_EQ(pop_all(mine), (numbers{1, 2, 3}));
  EXPECT_EQ(pop_all(owner), (numbers{5, 6, 7}));
}

TEST(ring, Q17_one_steal_splits_a_queue_of_any_size_and_nothing_is_lost_or_doubled) {
  runq::ring<int> victim;
  runq::ring<int> idle;
  auto owner = victim.make_owner();
  auto mine = idle.make_owner();
  for (int i = 0; i != 256; ++i) {
    push_all(owner, from_to(0, i - 1));
    numbers seen;
    const auto loot = victim.make_thief().steal_half_into(mine);
    if (loot) seen.push_back(loot.value);
    for (const int value : pop_all(mine)) seen.push_back(value);
    const std::size_t stolen = seen.size();
    for (const int value : pop_all(owner)) seen.push_back(value);
    std::sort(seen.begin(), seen.end());
    ASSERT_EQ(seen, from_to(0, i - 1));
    ASSERT_TRUE(stolen == static_cast<std::size_t>(i / 2) || stolen == static_cast<std::size_t>(i / 2) + 1);
  }
}

TEST(ring, steal_half_takes_the_least_of_half_and_limit_and_room_plus_one) {
  for (const int k : {0, 1, 2, 3, 7, 100, 255, 256}) {
    for (const std::size_t limit : {1U, 2U, 3U, 64U, 127U, 128U, 129U, 256U}) {
      for (const int held : {0, 1, 100, 200, 250, 254, 255, 256}) {
        runq::ring<int> victim;
        runq::ring<int> idle(77);
        auto owner = victim.make_owner();
        auto mine = idle.make_owner();
        push_all(owner, from_to(1, k));
        push_all(mine, numbers(static_cast<std::size_t>(held), -1));
        const auto loot = victim.make_thief().steal_half_into(mine, limit);
        const std::size_t room = 256U - static_cast<std::size_t>(held);
        const std::size_t half = static_cast<std::size_t>(k - k / 2);
        const std::size_t n = std::min({half, limit, room + 1});
        ASSERT_EQ(loot.count, n) << "of " << k << ", limit " << limit << ", room " << room;
        if (n == 0) continue;
        const int newest = static_cast<int>(n);
        ASSERT_EQ(loot.value, newest);
        numbers expected(static_cast<std::size_t>(held), -1);
        for (int value = 1; value != newest; ++value) expected.push_back(value);
        ASSERT_EQ(pop_all(mine), expected);
        ASSERT_EQ(pop_all(owner), from_to(newest + 1, k));
      }
    }
  }
}

TEST(ring, steal_half_into_memory_takes_the_least_of_half_and_room_oldest_first) {
  for (int k = 0; k <= 256; ++k) {
    for (const std::size_t room : {1U, 2U, 100U, 127U, 128U, 129U, 256U}) {
      runq::ring<int> victim(static_cast<std::uint64_t>(k) * 3);
      auto owner = victim.make_owner();
      push_all(owner, from_to(1, k));
      numbers out(room, -1);
      const auto loot = victim.make_thief().steal_half(out);
      const std::size_t n = std::min(static_cast<std::size_t>(k - k / 2), room);
      ASSERT_EQ(loot.status, k == 0 ? steal_status::empty : steal_status::taken);
      ASSERT_EQ(loot.count, n) << "of " << k << ", room " << room;
      const int newest = static_cast<int>(n);
      numbers expected = from_to(1, newest);
      expected.resize(room, -1);
      ASSERT_EQ(out, expected);
      ASSERT_EQ(pop_all(owner), from_to(newest + 1, k));
    }
  }
}

TEST(ring, Q17_a_thief_without_a_ring_empties_a_full_one_in_nine_steals_and_nothing_is_lost_or_doubled) {
  runq::ring<int> victim(77);
  auto owner = victim.make_owner();
  push_all(owner, from_to(1, 256));
  std::array<int, 128> out{};
  numbers seen;
  for (int steals = 0; steals != 9; ++steals) {
    const auto loot = victim.make_thief().steal_half(out);
    ASSERT_TRUE(loot);
    seen.insert(seen.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(loot.count));
  }
  EXPECT_EQ(seen, from_to(1, 256));
  EXPECT_EQ(victim.make_thief().steal_half(out).status, steal_status::empty);
}

TEST(ring, steal_takes_the_oldest_alone) {
  runq::ring<int> r;
  auto owner = r.make_owner();
  push_all(owner, from_to(1, 3));
  const auto loot = r.make_thief().steal();
  EXPECT_TRUE(loot);
  EXPECT_EQ(loot.value, 1);
  EXPECT_EQ(loot.count, 1U);
  EXPECT_EQ(pop_all(owner), (numbers{2, 3}));
  EXPECT_EQ(r.make_thief().steal().status, steal_status::empty);
}

TEST(ring, a_steal_makes_no_more_atomic_operations_than_promised) {
  for (int n = 0; n <= 8; ++n) {
    probed_ring victim;
    probed_ring idle;
    auto owner = victim.make_owner();
    auto mine = idle.make_owner();
    push_all(owner, from_to(1, n));
    probe::reset();
    static_cast<void>(victim.make_thief().steal_half_into(mine));
    EXPECT_LE(probe::atomics(), 5U + 2U * 4U);
    EXPECT_LE(probe::count(op::rmw), 1U);
    EXPECT_EQ(probe::count(op::lock), 0U);
  }
}

TEST(ring, a_steal_into_memory_is_loads_and_one_claim) {
  for (int n = 1; n <= 8; ++n) {
    probed_ring victim;
    auto owner = victim.make_owner();
    push_all(owner, from_to(1, n));
    std::array<int, 8> out{};
    probe::reset();
    EXPECT_TRUE(victim.make_thief().steal_half(out));
    EXPECT_EQ(probe::count(op::load), 2U + static_cast<unsigned>(n - n / 2));
    EXPECT_EQ(probe::count(op::rmw), 1U);
    EXPECT_EQ(probe::count(op::store), 0U);
    EXPECT_EQ(probe::count(op::lock), 0U);
  }
}

TEST(ring, a_queue_of_queues_of_thieves_keeps_the_order) {
  // Elements that were stolen can be stolen again: the second thief steals from the first.
  runq::ring<int> a;
  runq::ring<int> b;
  runq::ring<int> c;
  auto owner_a = a.make_owner();
  auto owner_b = b.make_owner();
  auto owner_c = c.make_owner();
  push_all(owner_a, from_to(1, 9));
  EXPECT_EQ(a.make_thief().steal_half_into(owner_b).value, 5);
  EXPECT_EQ(b.make_thief().steal_half_into(owner_c).value, 2);
  EXPECT_EQ(pop_all(owner_c), (numbers{1}));
  EXPECT_EQ(pop_all(owner_b), (numbers{3, 4}));
  EXPECT_EQ(pop_all(owner_a), from_to(6, 9));
}

// ---- races, staged --------------------------------------------------------------------------------------------------

TEST(ring, a_steal_half_that_loses_the_race_changes_nothing) {
  probed_ring victim;
  probed_ring idle;
  auto owner = victim.make_owner();
  auto mine = idle.make_owner();
  push_all(owner, from_to(1, 6));
  push_all(mine, numbers{70});
  probe::before(op::rmw, 1, [&] { EXPECT_EQ(owner.pop(), 1); });
  const auto loot = victim.make_thief().steal_half_into(mine);
  EXPECT_TRUE(probe::happened());
  EXPECT_EQ(loot.status, steal_status::lost);
  EXPECT_EQ(loot.count, 0U);
  EXPECT_FALSE(loot);
  EXPECT_EQ(pop_all(mine), (numbers{70}));
  EXPECT_EQ(pop_all(owner), from_to(2, 6));
}

TEST(ring, a_steal_into_memory_that_loses_the_race_takes_nothing) {
  probed_ring victim;
  auto owner = victim.make_owner();
  push_all(owner, from_to(1, 6));
  probe::before(op::rmw, 1, [&] { EXPECT_EQ(owner.pop(), 1); });
  std::array<int, 4> out{-1, -1, -1, -1};
  const auto loot = victim.make_thief().steal_half(out);
  EXPECT_TRUE(probe::happened());
  EXPECT_EQ(loot.status, steal_status::lost);
  EXPECT_EQ(loot.count, 0U);
  EXPECT_FALSE(loot);
  EXPECT_EQ(out.back(), -1);  // half of six is three, so the fourth place is not written
  EXPECT_EQ(pop_all(owner), from_to(2, 6));
}

TEST(ring, a_steal_of_one_that_loses_the_race_changes_nothing) {
  probed_ring r;
  auto owner = r.make_owner();
  push_all(owner, from_to(1, 3));
  probe::before(op::rmw, 1, [&] { EXPECT_EQ(r.make_thief().steal().value, 1); });
  EXPECT_EQ(r.make_thief().steal().status, steal_status::lost);
  EXPECT_TRUE(probe::happened());
  EXPECT_EQ(pop_all(owner), (numbers{2, 3}));
}

TEST(ring, a_steal_whose_head_is_more_than_a_ring_old_is_lost_before_anything_is_copied) {
  probed_ring victim;
  probed_ring idle;
  auto owner = victim.make_owner();
  auto mine = idle.make_owner();
  push_all(owner, numbers{0});
  const auto nine_pass = [&] {
    for (int i = 1; i <= 9; ++i) {
      ASSERT_TRUE(owner.pop().has_value());
      ASSERT_TRUE(owner.push(i));
    }
  };
  probe::reset();
  probe::before(op::load, 2, nine_pass);  // between the reads of head and tail
  EXPECT_EQ(victim.make_thief().steal_half_into(mine).status, steal_status::lost);
  EXPECT_TRUE(probe::happened());
  EXPECT_EQ(probe::atomics(), 2U);
  probe::reset();
  probe::before(op::load, 2, nine_pass);
  EXPECT_EQ(victim.make_thief().steal().status, steal_status::lost);
  EXPECT_TRUE(probe::happened());
  EXPECT_EQ(probe::atomics(), 2U);
  std::array<int, 8> out{};
  probe::reset();
  probe::before(op::load, 2, nine_pass);
  EXPECT_EQ(victim.make_thief().steal_half(out).status, steal_status::lost);
  EXPECT_TRUE(probe::happened());
  EXPECT_EQ(probe::atomics(), 2U);
  EXPECT_EQ(pop_all(owner), (numbers{9}));
}

TEST(ring, Q16_no_steal_calls_a_ring_empty_whose_one_element_is_replaced_between_its_two_reads) {
  probed_ring victim;
  probed_ring idle;
  auto owner = victim.make_owner();
  auto mine = idle.make_owner();
  const auto thief = victim.make_thief();
  push_all(owner, numbers{0});
  std::array<int, 8> out{};
  const auto between_the_reads = [&](auto&& steal) {
    probe::before(op::load, 2, [&] {
      ASSERT_TRUE(owner.push(1));
      ASSERT_TRUE(owner.pop().has_value());
    });
    EXPECT_EQ(steal().status, steal_status::lost);
    EXPECT_TRUE(probe::happened());
  };
  between_the_reads([&] { return thief.steal_half_into(mine); });
  between_the_reads([&] { return thief.steal_half(out); });
  between_the_reads([&] { return thief.steal(); });
}

TEST(ring, a_steal_into_memory_has_read_every_slot_before_the_owner_can_use_it_again) {
  for (std::size_t slot = 1; slot <= 4; ++slot) {
    probed_ring victim;
    auto owner = victim.make_owner();
    push_all(owner, from_to(1, 8));
    std::array<int, 4> out{};
    probe::before(op::load, 2 + slot, [&] { EXPECT_EQ(owner.push_batch(from_to(9, 12)), 0U); });
    EXPECT_TRUE(victim.make_thief().steal_half(out));
    EXPECT_TRUE(probe::happened());
    EXPECT_EQ(numbers(out.begin(), out.end()), from_to(1, 4));
  }
}

TEST(ring, a_steal_keeps_what_it_saw_when_the_owner_pushes_meanwhile) {
  probed_ring victim;
  probed_ring idle;
  auto owner = victim.make_owner();
  auto mine = idle.make_owner();
  push_all(owner, from_to(1, 4));
  probe::before(op::rmw, 1, [&] { push_all(owner, from_to(5, 8)); });
  const auto loot = victim.make_thief().steal_half_into(mine);
  EXPECT_EQ(loot.value, 2);
  EXPECT_EQ(pop_all(mine), (numbers{1}));
  probe::before(op::rmw, 1, [&] { push_all(owner, from_to(9, 10)); });
  std::array<int, 8> out{};
  EXPECT_EQ(victim.make_thief().steal_half(out).count, 3U);
  EXPECT_EQ(out[2], 5);
  EXPECT_EQ(pop_all(owner), from_to(6, 10));
}

TEST(ring, a_pop_that_loses_the_race_takes_the_next_or_finds_it_empty) {
  probed_ring r;
  auto owner = r.make_owner();
  push_all(owner, from_to(1, 2));
  probe::before(op::rmw, 1, [&] { EXPECT_EQ(r.make_thief().steal().value, 1); });
  EXPECT_EQ(owner.pop(), 2);
  push_all(owner, numbers{3});
  probe::before(op::rmw, 1, [&] { EXPECT_EQ(r.make_thief().steal().value, 3); });
  EXPECT_EQ(owner.pop(), std::nullopt);
  EXPECT_TRUE(probe::happened());
}

TEST(ring, a_shed_that_loses_the_race_sheds_nothing) {
  probed_ring r;
  auto owner = r.make_owner();
  push_all(owner, from_to(1, 8));
  probe::before(op::rmw, 1, [&] { EXPECT_EQ(r.make_thief().steal().value, 1); });
  std::array<int, 4> out{};
  EXPECT_EQ(owner.shed_half(out), 0U);
  EXPECT_TRUE(probe::happened());
  EXPECT_TRUE(owner.push(9));  // the thief made room
  EXPECT_EQ(pop_all(owner), from_to(2, 9));
}

#if defined(__cpp_exceptions)
TEST(ring, a_drain_whose_sink_throws_keeps_what_it_did_not_hand_out) {
  for (int given = 0; given != 8; ++given) {
    for (std::uint64_t first = 0; first != 8; ++first) {
      runq::basic_ring<int, 8> r(first);
      auto owner = r.make_owner();
      push_all(owner, from_to(1, 8));
      numbers out;
      const auto sink = [&out, given](int value) {
        if (static_cast<int>(out.size()) == given) throw value;
        out.push_back(value);
      };
      EXPECT_THROW(owner.drain(sink), int);
      // The element that the sink got when it threw belongs to the sink.
      ASSERT_EQ(out, from_to(1, given));
      ASSERT_EQ(owner.size_approx(), static_cast<std::size_t>(7 - given));
      ASSERT_EQ(pop_all(owner), from_to(given + 2, 8));
      push_all(owner, from_to(1, 8));
      ASSERT_EQ(pop_all(owner), from_to(1, 8));
    }
  }
}
#endif

TEST(ring, a_drain_that_loses_the_race_hands_out_what_is_left) {
  probed_ring r;
  auto owner = r.make_owner();
  push_all(owner, from_to(1, 8));
  probe::before(op::rmw, 1, [&] { EXPECT_EQ(r.make_thief().steal().value, 1); });
  numbers out;
  EXPECT_EQ(owner.drain([&out](int value) { out.push_back(value); }), 7U);
  EXPECT_TRUE(probe::happened());
  EXPECT_EQ(out, from_to(2, 8));
}

TEST(ring, Q16_has_work_sees_a_push_that_came_between_its_two_reads) {
  probed_ring r;
  auto owner = r.make_owner();
  probe::before(op::load, 2, [&] { push_all(owner, numbers{1}); });
  EXPECT_TRUE(r.make_thief().has_work());
  EXPECT_TRUE(probe::happened());
  EXPECT_EQ(owner.pop(), 1);
}

TEST(ring, size_approx_stays_between_0_and_the_capacity_even_when_its_reads_are_torn) {
  probed_ring r;
  auto owner = r.make_owner();
  push_all(owner, from_to(1, 8));
  EXPECT_EQ(r.make_thief().size_approx(), 8U);
  probe::before(op::load, 2, [&] {
    for (int i = 0; i != 8; ++i) {
      ASSERT_TRUE(owner.pop().has_value());
      ASSERT_TRUE(owner.push(0));
    }
    ASSERT_TRUE(owner.pop().has_value());
  });
  EXPECT_LE(r.make_thief().size_approx(), 8U);
  EXPECT_TRUE(probe::happened());
}

// ---- the counters wrap ----------------------------------------------------------------------------------------------

// Calls operations at random on a ring and on a std::deque, and compares the results. In `rounds` operations the
// counters wrap.
template <class Ring>
void compare_with_a_deque(typename Ring::index_type first, std::size_t rounds) {
  Ring r(first);
  Ring idle(first);
  auto owner = r.make_owner();
  auto mine = idle.make_owner();
  const auto thief = r.make_thief();
  std::deque<int> model;
  const auto take = [&model] {
    const int value = model.front();
    model.pop_front();
    return value;
  };
  runq_test::dice dice(static_cast<std::uint64_t>(first) + 1);
  int next = 0;
  for (std::size_t round = 0; round != rounds; ++round) {
    switch (dice.roll(9)) {
      case 0:
      case 1: {
        const bool fits = model.size() != Ring::capacity();
        ASSERT_EQ(owner.push(next), fits);
        if (fits) model.push_back(next++);
        break;
      }
      case 2: {
        const numbers batch = from_to(next, next + static_cast<int>(dice.roll(Ring::capacity() + 2)) - 1);
        const std::size_t n = owner.push_batch(batch);
        ASSERT_EQ(n, std::min(batch.size(), Ring::capacity() - model.size()));
        for (std::size_t i = 0; i != n; ++i) model.push_back(next++);
        break;
      }
      case 3: {
        const std::optional<int> value = owner.pop();
        ASSERT_EQ(value.has_value(), !model.empty());
        if (value) {
          ASSERT_EQ(*value, take());
        }
        break;
      }
      case 4: {
        const auto loot = thief.steal();
        ASSERT_EQ(loot.status, model.empty() ? steal_status::empty : steal_status::taken);
        if (loot) {
          ASSERT_EQ(loot.value, take());
        }
        break;
      }
      case 5: {
        const std::size_t half = model.size() - model.size() / 2;
        const auto loot = thief.steal_half_into(mine);
        ASSERT_EQ(loot.count, half);
        for (const int value : pop_all(mine)) ASSERT_EQ(value, take());
        if (loot) {
          ASSERT_EQ(loot.value, take());
        }
        break;
      }
      case 6: {
        std::array<int, Ring::capacity() / 2> out{};
        const std::size_t n = owner.shed_half(out);
        ASSERT_EQ(n, model.size() / 2);
        for (std::size_t i = 0; i != n; ++i) ASSERT_EQ(out[i], take());
        break;
      }
      case 7: {
        const std::size_t half = model.size() - model.size() / 2;
        numbers out(1 + dice.roll(Ring::capacity()));
        const auto loot = thief.steal_half(out);
        ASSERT_EQ(loot.count, std::min(half, out.size()));
        for (std::size_t i = 0; i != loot.count; ++i) ASSERT_EQ(out[i], take());
        break;
      }
      default:
        if (dice.roll(8) == 0) {
          owner.drain([&](int value) { ASSERT_EQ(value, take()); });
          ASSERT_TRUE(model.empty());
        }
    }
    ASSERT_EQ(owner.size_approx(), model.size());
    ASSERT_EQ(owner.room(), Ring::capacity() - model.size());
    ASSERT_EQ(thief.has_work(), !model.empty());
  }
}

TEST(ring, an_8_bit_counter_wraps_from_any_start_just_below_the_end) {
  for (unsigned before_end = 0; before_end != 16; ++before_end) {
    const auto first = static_cast<narrow>(std::numeric_limits<narrow>::max() - before_end);
    compare_with_a_deque<runq::basic_ring<int, 4, narrow>>(first, 5000);
  }
}

TEST(ring, an_8_bit_counter_can_serve_the_largest_ring_it_is_allowed_to) {
  compare_with_a_deque<runq::basic_ring<int, 128, narrow>>(static_cast<narrow>(std::numeric_limits<narrow>::max() - 55),
                                                           20'000);
}

TEST(ring, a_16_bit_counter_wraps) {
  using index = std::conditional_t<std::atomic<std::uint16_t>::is_always_lock_free, std::uint16_t, std::uint32_t>;
  compare_with_a_deque<runq::basic_ring<int, 8, index>>(static_cast<index>(std::numeric_limits<index>::max() - 5),
                                                        200'000);
}

TEST(ring, the_64_bit_counter_wraps) {
  compare_with_a_deque<runq::ring<int>>(std::numeric_limits<std::uint64_t>::max() - 1000, 20'000);
}

TEST(ring, the_smallest_ring_has_two_slots) { compare_with_a_deque<runq::basic_ring<int, 2>>(0, 5000); }

// ---- handles --------------------------------------------------------------------------------------------------------

using owner_handle = runq::ring<int*>::owner;
using thief_handle = runq::ring<int*>::thief;
static_assert(std::is_nothrow_move_constructible_v<owner_handle> && std::is_nothrow_move_assignable_v<owner_handle>);
static_assert(!std::is_copy_constructible_v<owner_handle> && !std::is_copy_assignable_v<owner_handle>);
static_assert(!std::is_default_constructible_v<owner_handle>);
static_assert(std::is_nothrow_copy_constructible_v<thief_handle> && std::is_nothrow_copy_assignable_v<thief_handle>);
// If a counter is wider than std::size_t, a distance of 2^32 must not be truncated to 0.
static_assert(runq::detail::saturated<std::uint32_t>(std::uint64_t{1} << 32U) == 0xffffffffU);
static_assert(runq::detail::saturated<std::uint32_t>(std::uint64_t{7}) == 7U);
static_assert(runq::detail::saturated<std::size_t>(std::uint8_t{255}) == 255U);

static_assert(!std::is_copy_constructible_v<runq::ring<int*>> && !std::is_move_constructible_v<runq::ring<int*>>);
template <class Handle>
concept can_push = requires(Handle& handle) {
  handle.push(nullptr);
};
static_assert(can_push<owner_handle> && !can_push<thief_handle>);

TEST(ring, needs_little_more_memory_than_its_slots) {
  EXPECT_LE(sizeof(runq::ring<void*>), 2048U + 4U * runq::cache_line);
  EXPECT_EQ(alignof(runq::ring<void*>), runq::cache_line);
}

TEST(ring, a_moved_owner_goes_on_where_it_was) {
  runq::ring<int> r;
  auto first = r.make_owner();
  push_all(first, numbers{1, 2});
  auto second = std::move(first);
  EXPECT_EQ(second.pop(), 1);
  EXPECT_TRUE(second.push(3));
  EXPECT_EQ(pop_all(second), (numbers{2, 3}));
}

TEST(ring, a_ring_can_have_another_owner_when_the_first_is_gone) {
  runq::ring<int> r;
  { push_all(*std::make_unique<runq::ring<int>::owner>(r.make_owner()), numbers{1}); }
  auto second = r.make_owner();
  EXPECT_EQ(second.pop(), 1);
}

TEST(ring, assigning_to_an_owner_gives_its_ring_free) {
  runq::ring<int> a;
  runq::ring<int> b;
  auto owner = a.make_owner();
  owner = b.make_owner();
  auto again = a.make_owner();
  EXPECT_TRUE(again.push(1));
  EXPECT_TRUE(owner.push(2));
  EXPECT_EQ(a.make_thief().steal().value, 1);
  EXPECT_EQ(b.make_thief().steal().value, 2);
}

TEST(ring, a_move_hands_the_ring_to_another_thread) {
  runq::ring<int> r;
  auto owner = r.make_owner();
  push_all(owner, numbers{1});
  std::thread([theirs = std::move(owner)]() mutable { EXPECT_EQ(theirs.pop(), 1); }).join();
}

TEST(ring, rebind_hands_the_ring_to_another_thread) {
  runq::ring<int> r;
  auto owner = r.make_owner();
  push_all(owner, numbers{1});
  owner.rebind();
  std::thread([&owner] { EXPECT_EQ(owner.pop(), 1); }).join();
}

TEST(ring, a_thief_can_be_had_from_the_owner_and_copied) {
  runq::ring<int> r;
  auto owner = r.make_owner();
  const auto thief = owner.make_thief();
  const auto copy = thief;  // NOLINT(performance-unnecessary-copy-initialization): the copy is what is tested
  push_all(owner, numbers{1, 2});
  EXPECT_EQ(thief.steal().value, 1);
  EXPECT_EQ(copy.steal().value, 2);
}

TEST(ring, carries_small_integers_and_enumerations_too) {
  enum class colour : narrow { red, green };
  runq::basic_ring<colour, 2> r;
  auto owner = r.make_owner();
  EXPECT_TRUE(owner.push(colour::green));
  EXPECT_EQ(owner.pop(), colour::green);
}

// ---- contracts, in debug builds -------------------------------------------------------------------------------------

TEST(ring_contract, a_push_from_a_second_thread_stops_the_program) {
  runq::ring<int> r;
  auto owner = r.make_owner();
  push_all(owner, numbers{1});
  RUNQ_EXPECT_CONTRACT_VIOLATION(std::thread([&owner] { static_cast<void>(owner.push(2)); }).join(),
                                 "runq: ring: an owner operation was called from a second thread");
}

TEST(ring_contract, a_second_owner_stops_the_program) {
  runq::ring<int> r;
  const auto owner = r.make_owner();
  RUNQ_EXPECT_CONTRACT_VIOLATION(static_cast<void>(r.make_owner()), "make_owner\\(\\) was called twice");
}

TEST(ring_contract, a_steal_from_itself_stops_the_program) {
  runq::ring<int> r;
  auto owner = r.make_owner();
  RUNQ_EXPECT_CONTRACT_VIOLATION(static_cast<void>(r.make_thief().steal_half_into(owner)),
                                 "a ring cannot steal from itself");
}

TEST(ring_contract, a_steal_of_at_most_nothing_stops_the_program) {
  runq::ring<int> r;
  runq::ring<int> idle;
  auto mine = idle.make_owner();
  RUNQ_EXPECT_CONTRACT_VIOLATION(static_cast<void>(r.make_thief().steal_half_into(mine, 0)),
                                 "the limit of a steal is at least 1");
}

TEST(ring_contract, a_steal_into_no_memory_stops_the_program) {
  runq::ring<int> r;
  RUNQ_EXPECT_CONTRACT_VIOLATION(static_cast<void>(r.make_thief().steal_half({})),
                                 "a steal of half needs room for at least one element");
}

TEST(ring_contract, the_use_of_a_moved_from_owner_stops_the_program) {
  runq::ring<int> r;
  auto owner = r.make_owner();
  const auto now = std::move(owner);
  // NOLINTBEGIN(bugprone-use-after-move): the mistake is what is tested
  RUNQ_EXPECT_CONTRACT_VIOLATION(static_cast<void>(owner.pop()), "this owner handle has been moved from");
  RUNQ_EXPECT_CONTRACT_VIOLATION(static_cast<void>(owner.size_approx()), "this owner handle has been moved from");
  RUNQ_EXPECT_CONTRACT_VIOLATION(static_cast<void>(owner.make_thief()), "this owner handle has been moved from");
  // NOLINTEND(bugprone-use-after-move)
}

// ---- what a broken contract does in builds without checks -----------------------------------------------------------

/// A policy that does not check contracts, as in builds with NDEBUG.
struct unchecked_atomics : runq::std_atomics {
  static void check(bool, const char*) noexcept {}
};
using unchecked_ring = runq::basic_ring<int, 8, std::uint64_t, unchecked_atomics>;

TEST(ring_without_checks, a_steal_of_at_most_nothing_takes_one) {
  unchecked_ring r;
  unchecked_ring idle;
  auto owner = r.make_owner();
  auto mine = idle.make_owner();
  push_all(owner, from_to(1, 8));
  const auto loot = owner.make_thief().steal_half_into(mine, 0);
  EXPECT_EQ(loot.status, steal_status::taken);
  EXPECT_EQ(loot.count, 1U);
  EXPECT_EQ(loot.value, 1);
  EXPECT_EQ(pop_all(mine), numbers{});
  EXPECT_EQ(pop_all(owner), from_to(2, 8));
}

TEST(ring_without_checks, a_steal_into_no_memory_takes_nothing) {
  unchecked_ring r;
  auto owner = r.make_owner();
  push_all(owner, from_to(1, 8));
  const auto loot = owner.make_thief().steal_half({});
  EXPECT_EQ(loot.status, steal_status::lost);
  EXPECT_EQ(loot.count, 0U);
  EXPECT_EQ(pop_all(owner), from_to(1, 8));
}

}  // namespace
