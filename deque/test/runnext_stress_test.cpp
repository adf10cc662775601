// SPDX-License-Identifier: MIT
// runnext on real threads. Row Q17: every element is taken exactly once, by its owner, by a thief, or by displacement.
// The tests do not show the interleavings that this machine never produces. The models check those.
// RUNQ_STRESS=n makes every run n times as long.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <runq/runnext.hpp>

#include "support.hpp"

namespace {

using runq_test::parcel;
using runq_test::takers;

TEST(runnext_stress, Q17_an_owner_and_three_thieves_take_each_element_once_in_order) {
  const std::size_t elements = runq_test::stress_size(3'000'000);
  std::vector<parcel> parcels(elements);
  runq::runnext<parcel*> slot;
  std::atomic<bool> all_put{false};
  takers log(4);
  auto owner = slot.make_owner();

  const auto own = [&] {
    runq_test::dice dice(1);
    for (std::uint32_t next = 0; next != elements; ++next) {
      parcels[next].pack(next);
      if (const std::optional<parcel*> displaced = owner.put(&parcels[next])) log.open(0, *displaced);
      const std::size_t roll = dice.roll(2048);
      if (roll < 256) {
        if (const std::optional<parcel*> p = owner.take()) log.open(0, *p);
      } else if (roll == 2047) {  // rarely: on a loaded machine each yield can cost a time slice
        std::this_thread::yield();
      }
    }
    all_put.store(true, std::memory_order::release);
    if (const std::optional<parcel*> p = owner.take()) log.open(0, *p);
  };
  const auto steal = [&](std::size_t self) {
    const auto victim = slot.make_thief();
    for (std::size_t tries = 1;; ++tries) {
      const bool last_look = all_put.load(std::memory_order::acquire);
      const auto loot = victim.steal(tries % 3 == 0 ? 2 : 0);
      if (loot) {
        log.open(self, loot.value);
      } else if (last_look && !victim.has_work_approx()) {
        return;
      } else {
        std::this_thread::yield();
      }
    }
  };
  runq_test::in_threads(4, [&](std::size_t i) { i == 0 ? own() : steal(i); });
  log.expect_each_once(elements);
  log.expect_each_log_in_order();
}

}  // namespace
