// SPDX-License-Identifier: MIT
// ring on real threads. Row Q17: every element is taken exactly once. The tests do not show the interleavings that this
// machine never produces. The models check those. RUNQ_STRESS=n makes every run n times as long.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <runq/ring.hpp>

#include "support.hpp"

namespace {

using runq::steal_status;
using runq_test::parcel;
using runq_test::takers;

constexpr std::uint64_t just_below_the_wrap = std::numeric_limits<std::uint64_t>::max() - 1000;

// One owner pushes, pops, sheds and drains, and three thieves steal. All elements come from one owner, so the test can
// also check that every thread takes them in order, and that every batch is a range without gaps.
template <class Ring>
void one_owner_and_three_thieves(std::size_t elements) {
  std::vector<parcel> parcels(elements);
  Ring ring(just_below_the_wrap);
  std::atomic<bool> all_pushed{false};
  takers log(4);
  auto owner = ring.make_owner();

  const auto own = [&] {
    runq_test::dice dice(1);
    const auto take = [&log](parcel* p) { log.open(0, p); };
    std::uint32_t next = 0;
    while (next != elements) {
      const std::size_t roll = dice.roll(64);
      if (roll < 40) {
        parcels[next].pack(next);
        if (owner.push(&parcels[next])) {
          ++next;
        } else if (dice.roll(256) == 0) {  // rarely: on a loaded machine each yield can cost a time slice
          std::this_thread::yield();
        }
      } else if (roll < 50) {
        std::array<parcel*, 8> batch{};
        std::size_t n = 0;
        for (; n != batch.size() && next + n != elements; ++n) {
          batch[n] = &parcels[next + n];
          batch[n]->pack(next + static_cast<std::uint32_t>(n));
        }
        next += static_cast<std::uint32_t>(owner.push_batch(std::span<parcel* const>(batch.data(), n)));
      } else if (roll < 62) {
        if (const std::optional<parcel*> p = owner.pop()) take(*p);
      } else if (roll == 62) {
        std::array<parcel*, Ring::capacity() / 2> out{};
        const std::size_t n = owner.shed_half(out);
        std::for_each(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n), take);
      } else if (dice.roll(16) == 0) {
        owner.drain(take);
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
    std::array<parcel*, Ring::capacity() / 2> taken{};
    // Tries to steal once, in a way chosen at random. What it takes is in `taken` afterwards.
    const auto rob = [&]() -> runq::batch_result {
      const std::size_t roll = dice.roll(16);
      if (roll < 8) return victim.steal_half(std::span(taken).first(roll == 0 ? 2 : taken.size()));
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
  log.expect_each_log_in_order();
}

TEST(ring_stress, Q17_one_owner_and_three_thieves_take_each_element_once_in_order) {
  one_owner_and_three_thieves<runq::ring<parcel*>>(runq_test::stress_size(2'000'000));
}

TEST(ring_stress, Q17_one_owner_and_three_thieves_of_a_tiny_ring_take_each_element_once_in_order) {
  one_owner_and_three_thieves<runq::basic_ring<parcel*, 4>>(runq_test::stress_size(1'000'000));
}

// Every thread owns a ring and steals from the others, so elements that were stolen are stolen again.
template <class Ring>
void everybody_robs_everybody(std::size_t threads, std::size_t elements_each) {
  const std::size_t elements = threads * elements_each;
  std::vector<parcel> parcels(elements);
  std::deque<Ring> rings;
  std::vector<typename Ring::owner> owners;
  for (std::size_t i = 0; i != threads; ++i) owners.push_back(rings.emplace_back(just_below_the_wrap).make_owner());
  takers log(threads);
  std::atomic<std::ptrdiff_t> left{static_cast<std::ptrdiff_t>(elements)};

  runq_test::in_threads(threads, [&](std::size_t self) {
    auto& mine = owners[self];
    runq_test::patience patience;
    runq_test::dice dice(self);
    auto next = static_cast<std::uint32_t>(self * elements_each);
    const std::size_t end = (self + 1) * elements_each;
    const auto take = [&](parcel* p) {
      log.open(self, p);
      left.fetch_sub(1, std::memory_order::relaxed);
      patience.success();
    };
    while (left.load(std::memory_order::relaxed) > 0) {
      for (std::size_t n = dice.roll(2 * Ring::capacity()); n != 0 && next != end; --n) {
        parcels[next].pack(next);
        if (!mine.push(&parcels[next])) break;
        ++next;
      }
      for (std::size_t n = dice.roll(Ring::capacity()); n != 0; --n) {
        const std::optional<parcel*> p = mine.pop();
        if (!p) break;
        take(*p);
      }
      const std::size_t victim = (self + 1 + dice.roll(threads - 1)) % threads;
      const auto loot = rings[victim].make_thief().steal_half_into(mine);
      if (loot) {
        take(loot.value);
      } else if (patience.spent()) {
        return;
      }
    }
  });
  log.expect_each_once(elements);
}

TEST(ring_stress, Q17_four_owners_who_rob_each_other_take_each_element_once) {
  everybody_robs_everybody<runq::ring<parcel*>>(4, runq_test::stress_size(600'000));
}

TEST(ring_stress, Q17_four_owners_of_tiny_rings_who_rob_each_other_take_each_element_once) {
  everybody_robs_everybody<runq::basic_ring<parcel*, 4>>(4, runq_test::stress_size(150'000));
}

// The ring is never empty, so an observer must never see it empty.
TEST(ring_stress, Q16_a_ring_that_always_holds_something_never_looks_empty) {
  const std::size_t rounds = runq_test::stress_size(2'000'000);
  runq::basic_ring<std::size_t, 4> ring(just_below_the_wrap);
  std::atomic<bool> stop{false};
  auto owner = ring.make_owner();
  ASSERT_TRUE(owner.push(0));
  owner.rebind();
  runq_test::in_threads(2, [&](std::size_t self) {
    if (self == 0) {
      for (std::size_t i = 1; i <= rounds; ++i) {
        ASSERT_TRUE(owner.push(i));
        ASSERT_EQ(owner.pop(), i - 1);
      }
      stop.store(true, std::memory_order::release);
    } else {
      const auto observer = ring.make_thief();
      for (std::size_t looks = 1; !stop.load(std::memory_order::acquire); ++looks) {
        ASSERT_TRUE(observer.has_work());
        ASSERT_LE(observer.size_approx(), 4U);
        if (looks % 64 == 0) std::this_thread::yield();
      }
    }
  });
}

}  // namespace
