// SPDX-License-Identifier: MIT
// split_ring on real threads: every element is taken exactly once. The tests do not show the interleavings that this
// machine never produces. The models check those. RUNQ_STRESS=n makes every run n times as long.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <runq/split_ring.hpp>

#include "fence_pair_stress.hpp"
#include "support.hpp"

namespace {

using runq::steal_status;
using runq_test::parcel;
using runq_test::takers;

constexpr std::uint32_t just_below_the_wrap = 0xFFFF'F000U;

// One owner pushes and pops, and three thieves steal. The owner takes what is left to it in order.
template <class Ring>
void one_owner_and_three_thieves(std::size_t elements) {
  std::vector<parcel> parcels(elements);
  Ring ring(just_below_the_wrap);
  std::atomic<bool> all_pushed{false};
  takers log(4);
  auto owner = ring.make_owner();

  const auto own = [&] {
    runq_test::dice dice(1);
    std::uint32_t last = 0;
    const auto take = [&](parcel* p) {
      ASSERT_GE(p->id, last) << "the owner took newer before older";
      last = p->id;
      log.open(0, p);
    };
    std::uint32_t next = 0;
    while (next != elements) {
      if (dice.roll(8) < 5) {
        parcels[next].pack(next);
        if (owner.push(&parcels[next])) {
          ++next;
        } else if (dice.roll(256) == 0) {  // rarely: on a loaded machine each yield can cost a time slice
          std::this_thread::yield();
        } else if (const std::optional<parcel*> p = owner.pop()) {
          take(*p);
        }
      } else if (const std::optional<parcel*> p = owner.pop()) {
        take(*p);
      }
    }
    all_pushed.store(true, std::memory_order::release);
    while (const std::optional<parcel*> p = owner.pop()) take(*p);
  };

  const auto steal = [&](std::size_t self) {
    Ring idle(just_below_the_wrap);
    auto into = idle.make_owner();
    const auto victim = ring.make_thief();
    runq_test::dice dice(self + 1);
    std::array<parcel*, Ring::capacity()> taken{};
    const auto rob = [&]() -> runq::batch_result {
      const std::size_t roll = dice.roll(16);
      if (roll < 8) return victim.steal_half(taken);
      const auto loot = roll == 8 ? victim.steal() : victim.steal_half_into(into, roll == 9 ? 3 : Ring::capacity());
      for (std::size_t i = 0; i != loot.count; ++i) {
        taken[i] = i + 1 == loot.count ? loot.value : into.pop().value_or(nullptr);
      }
      return {loot.status, loot.count};
    };
    for (;;) {
      const bool last_look = all_pushed.load(std::memory_order::acquire);
      const runq::batch_result loot = rob();
      if (loot.status == steal_status::empty) {
        if (last_look) return;
        std::this_thread::yield();
      }
      for (std::size_t i = 0; i != loot.count; ++i) {
        ASSERT_NE(taken[i], nullptr) << "fewer came than the steal said";
        ASSERT_EQ(taken[i]->id, taken[0]->id + i) << "a batch is a range of the victim's order";
        log.open(self, taken[i]);
      }
      ASSERT_FALSE(into.pop().has_value()) << "more came than the steal said";
    }
  };

  owner.rebind();
  runq_test::in_threads(4, [&](std::size_t i) { i == 0 ? own() : steal(i); });
  log.expect_each_once(elements);
}

TEST(split_ring_stress, one_owner_and_three_thieves_take_each_element_once) {
  one_owner_and_three_thieves<runq::split_ring<parcel*>>(runq_test::stress_size(1'000'000));
}

TEST(split_ring_stress, one_owner_and_three_thieves_of_a_tiny_ring_take_each_element_once) {
  one_owner_and_three_thieves<
      runq::basic_split_ring<parcel*, 4, runq::split_ring_options{.run = 2, .tries = 2, .polls = 3}>>(
      runq_test::stress_size(500'000));
}

// All elements in the owner's run.
template <class Atomics>
using tiny =
    runq::basic_split_ring<std::uint32_t, 4, runq::split_ring_options{.run = 4, .tries = 1, .polls = 0, .tag_bits = 37},
                           Atomics>;

TEST(split_ring_stress, owner_and_thief_never_both_get_an_element_of_the_run) {
  EXPECT_EQ(runq_test::lost_or_taken_twice<tiny<runq::membarrier_atomics>>(runq_test::stress_size(4'000'000)), 0U);
  EXPECT_EQ(runq_test::lost_or_taken_twice<tiny<runq::std_atomics>>(runq_test::stress_size(1'000'000)), 0U);
}

// Whether the test above can fail. Not run by ctest, because it needs two processors that do nothing else:
//   split_ring_stress_test --gtest_also_run_disabled_tests --gtest_filter='*without*'
TEST(split_ring_stress, DISABLED_without_the_heavy_fence_both_get_one) {
  if (!runq::membarrier_atomics::asymmetric())
    GTEST_SKIP() << "no membarrier(2): the light fence is a fence of the language, and needs no heavy one";
  EXPECT_TRUE(runq_test::loses_or_takes_twice<tiny<runq_test::without_the_heavy_fence>>());
}

TEST(split_ring_stress, threads_that_steal_from_each_other_take_each_element_once) {
  runq_test::threads_that_steal_from_each_other<
      runq::basic_split_ring<parcel*, 16, runq::split_ring_options{.run = 4}>>(runq_test::stress_size(200'000));
}

}  // namespace
