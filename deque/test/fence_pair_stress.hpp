// SPDX-License-Identifier: MIT
// What the stress tests of the queues with an asymmetric pair of fences do alike.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <runq/membarrier.hpp>

#include "support.hpp"

namespace runq_test {

struct without_the_heavy_fence : runq::membarrier_atomics {
  static void heavy_fence(std::memory_order) noexcept {}
};

/// An owner pushes and pops two at a time, against a thief that takes each of them by a heavy fence. Returns how many
/// elements were lost or taken twice. A split queue should hold four, all of which its owner holds unless a thief asks.
template <class Queue>
std::size_t lost_or_taken_twice(std::size_t elements) {
  Queue queue;
  std::vector<std::atomic<unsigned char>> times(elements);
  std::atomic<bool> stop{false};
  const auto take = [&](std::uint32_t value) { times[value].fetch_add(1, std::memory_order::relaxed); };
  auto owner = queue.make_owner();
  owner.rebind();
  in_threads(2, [&](std::size_t self) {
    if (self == 1) {
      const auto thief = queue.make_thief();
      while (!stop.load(std::memory_order::relaxed)) {
        for (int i = 0; i != 2; ++i) {
          if (const auto got = thief.steal()) take(got.value);
        }
        for (int i = 0; i != 50; ++i) Queue::atomics::pause();
      }
      return;
    }
    for (std::uint32_t next = 0; next < elements;) {
      for (int i = 0; i != 2 && next < elements; ++i) next += owner.push(next) ? 1U : 0U;
      while (const std::optional<std::uint32_t> value = owner.pop()) take(*value);
    }
    stop.store(true, std::memory_order::relaxed);
  });
  owner.rebind();
  while (const std::optional<std::uint32_t> value = owner.pop()) take(*value);
  std::size_t wrong = 0;
  for (const auto& n : times) wrong += n.load(std::memory_order::relaxed) != 1 ? 1U : 0U;
  return wrong;
}

/// Whether one of 20 runs of the function above finds an element that was lost or taken twice.
template <class Queue>
bool loses_or_takes_twice() {
  for (int run = 0; run != 20; ++run) {
    if (lost_or_taken_twice<Queue>(4'000'000) != 0) return true;
  }
  return false;
}

/// Every thread owns a queue and steals from the others, so elements that were stolen are stolen again.
template <class Queue>
void threads_that_steal_from_each_other(std::size_t each) {
  constexpr std::size_t threads = 3;
  std::vector<parcel> parcels(threads * each);
  std::deque<Queue> queues;
  std::vector<typename Queue::owner> owners;
  for (std::size_t i = 0; i != threads; ++i) owners.push_back(queues.emplace_back(0xFFFF'F000U).make_owner());
  takers log(threads);
  std::atomic<std::size_t> left{threads * each};
  in_threads(threads, [&](std::size_t self) {
    typename Queue::owner& mine = owners[self];
    mine.rebind();
    runq_test::patience patience;
    runq_test::dice dice(self + 1);
    auto next = static_cast<std::uint32_t>(self * each);
    const std::size_t end = (self + 1) * each;
    const auto take = [&](parcel* p) {
      log.open(self, p);
      left.fetch_sub(1, std::memory_order::relaxed);
      patience.success();
    };
    while (left.load(std::memory_order::relaxed) != 0) {
      if (next != end && dice.roll(2) == 0) {
        parcels[next].pack(next);
        if (mine.push(&parcels[next])) ++next;
      }
      if (dice.roll(4) != 0) {
        if (const std::optional<parcel*> p = mine.pop()) take(*p);
        continue;
      }
      const auto loot = queues[(self + 1 + dice.roll(threads - 1)) % threads].make_thief().steal_half_into(mine);
      if (loot) {
        take(loot.value);
      } else if (patience.spent()) {
        ADD_FAILURE() << "elements were lost";
        return;
      }
    }
  });
  log.expect_each_once(threads * each);
}

}  // namespace runq_test
