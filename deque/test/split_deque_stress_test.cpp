// SPDX-License-Identifier: MIT
// split_deque on real threads: every element is taken exactly once. The tests do not show the interleavings that this
// machine never produces. The models check those. RUNQ_STRESS=n makes every run n times as long.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <runq/split_deque.hpp>

#include "fence_pair_stress.hpp"
#include "support.hpp"

namespace {

using runq::steal_status;
using runq_test::parcel;
using runq_test::takers;

constexpr std::uint32_t just_below_the_wrap = 0xFFFF'F000U;

// One owner pushes and pops, and three thieves steal, with a deque of their own or without.
template <class Deque>
void one_owner_and_three_thieves(std::size_t elements) {
  std::vector<parcel> parcels(elements);
  Deque deque(just_below_the_wrap);
  std::atomic<bool> all_pushed{false};
  takers log(4);
  auto owner = deque.make_owner();

  const auto own = [&] {
    runq_test::dice dice(1);
    std::uint32_t next = 0;
    while (next != elements) {
      if (dice.roll(8) < 5) {
        parcels[next].pack(next);
        if (owner.push(&parcels[next])) {
          ++next;
        } else if (dice.roll(256) == 0) {  // rarely: on a loaded machine each yield can cost a time slice
          std::this_thread::yield();
        }
      } else if (const std::optional<parcel*> p = owner.pop()) {
        log.open(0, *p);
      }
    }
    all_pushed.store(true, std::memory_order::release);
    while (const std::optional<parcel*> p = owner.pop()) log.open(0, *p);
  };

  const auto steal = [&](std::size_t self) {
    Deque idle(just_below_the_wrap);
    auto into = idle.make_owner();
    const auto victim = deque.make_thief();
    runq_test::dice dice(self + 1);
    std::array<parcel*, Deque::capacity()> taken{};
    for (;;) {
      const bool last_look = all_pushed.load(std::memory_order::acquire);
      runq::batch_result got;
      if (dice.roll(2) == 0) {
        got = victim.steal_half(taken);
        for (std::size_t i = 0; i != got.count; ++i) log.open(self, taken[i]);
      } else {
        const auto loot = victim.steal_half_into(into);
        got = {loot.status, loot.count};
        if (loot) log.open(self, loot.value);
        std::size_t others = 1;
        for (; const std::optional<parcel*> p = into.pop(); ++others) log.open(self, *p);
        ASSERT_EQ(loot ? others : 1, loot ? loot.count : 1) << "fewer or more came than the steal said";
      }
      if (got.status == steal_status::empty) {
        if (last_look) return;
        std::this_thread::yield();
      }
    }
  };

  owner.rebind();
  runq_test::in_threads(4, [&](std::size_t i) { i == 0 ? own() : steal(i); });
  log.expect_each_once(elements);
}

TEST(split_deque_stress, one_owner_and_three_thieves_take_each_element_once) {
  one_owner_and_three_thieves<runq::split_deque<parcel*>>(runq_test::stress_size(1'000'000));
}

TEST(split_deque_stress, one_owner_and_three_thieves_of_a_tiny_deque_take_each_element_once) {
  one_owner_and_three_thieves<
      runq::basic_split_deque<parcel*, 4, runq::split_deque_options{.publish = 2, .tries = 2, .polls = 3}>>(
      runq_test::stress_size(300'000));
}

TEST(split_deque_stress, a_deque_that_makes_nothing_public_loses_nothing) {
  one_owner_and_three_thieves<runq::basic_split_deque<parcel*, 16, runq::split_deque_options{.publish = 0, .polls = 0},
                                                      runq::membarrier_atomics>>(runq_test::stress_size(300'000));
}

// Nothing is public unless a thief makes it so.
template <class Atomics>
using tiny =
    runq::basic_split_deque<std::uint32_t, 4,
                            runq::split_deque_options{.publish = 0, .tries = 1, .polls = 0, .tag_bits = 37}, Atomics>;

TEST(split_deque_stress, owner_and_thief_never_both_get_a_private_element) {
  EXPECT_EQ(runq_test::lost_or_taken_twice<tiny<runq::membarrier_atomics>>(runq_test::stress_size(4'000'000)), 0U);
  EXPECT_EQ(runq_test::lost_or_taken_twice<tiny<runq::std_atomics>>(runq_test::stress_size(1'000'000)), 0U);
}

// Whether the test above can fail. Not run by ctest, because it needs two processors that do nothing else:
//   split_deque_stress_test --gtest_also_run_disabled_tests --gtest_filter='*without*'
TEST(split_deque_stress, DISABLED_without_the_heavy_fence_both_get_one) {
  if (!runq::membarrier_atomics::asymmetric())
    GTEST_SKIP() << "no membarrier(2): the light fence is a fence of the language, and needs no heavy one";
  EXPECT_TRUE(runq_test::loses_or_takes_twice<tiny<runq_test::without_the_heavy_fence>>());
}

TEST(split_deque_stress, threads_that_steal_from_each_other_take_each_element_once) {
  runq_test::threads_that_steal_from_each_other<
      runq::basic_split_deque<parcel*, 16, runq::split_deque_options{.publish = 4}>>(runq_test::stress_size(200'000));
}

}  // namespace
