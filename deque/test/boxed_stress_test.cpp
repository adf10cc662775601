// SPDX-License-Identifier: MIT
// boxed on real threads: every value is taken exactly once and whole, while thieves return boxes and the owner fills
// them again. RUNQ_STRESS=n makes every run n times as long.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <runq/boxed.hpp>
#include <runq/chase_lev.hpp>
#include <runq/ring.hpp>
#include <runq/split_deque.hpp>

#include "support.hpp"

namespace {

using runq_test::takers;
using task = runq_test::parcel;

// A pointer and a copy of what it points to: they differ if a value was mixed with another one.
struct wide {
  task* which = nullptr;
  std::uint64_t id = 0;
};

constexpr std::size_t thieves = 3;

template <class Queue>
void each_value_is_taken_once_and_whole(std::size_t values, Queue& q) {
  std::vector<task> tasks(values);
  takers log(thieves + 1);
  std::atomic<bool> done{false};
  std::atomic<std::size_t> mixed{0};
  const auto open = [&](std::size_t self, const wide& got) {
    if (got.which->id != got.id) mixed.fetch_add(1, std::memory_order::relaxed);
    log.open(self, got.which);
  };
  const auto steal = [&](std::size_t self) {
    std::array<wide, 8> out{};
    for (runq_test::dice dice(self);;) {
      const bool last_look = done.load(std::memory_order::acquire);
      std::size_t n = 0;
      if constexpr (requires { q.steal_half(out); }) {
        n = q.steal_half(std::span(out).first(1 + dice.roll(out.size()))).count;
      } else if (const auto got = q.steal()) {
        out[0] = got.value;
        n = 1;
      }
      for (const wide& got : std::span(out).first(n)) open(self, got);
      if (n != 0) continue;
      if (last_look && q.empty()) return;
      std::this_thread::yield();
    }
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i <= thieves; ++i) others.emplace_back(steal, i);
  const auto pop = [&] {
    const std::optional<wide> got = q.pop();
    if (got) open(0, *got);
    return got.has_value();
  };
  for (std::size_t i = 0; i != values; ++i) {
    tasks[i].pack(static_cast<std::uint32_t>(i));
    while (!q.push(wide{&tasks[i], i})) pop();
    if (i % 64 >= 48) pop();
  }
  while (pop()) continue;
  done.store(true, std::memory_order::release);
  others.clear();
  EXPECT_EQ(mixed.load(), 0U) << "values that are half of another one";
  log.expect_each_once(values);
}

template <class Queue>
void stress(std::size_t values, typename Queue::made_of argument) {
  runq::boxed<Queue, 2> q(argument);
  each_value_is_taken_once_and_whole(runq_test::stress_size(values), q);
}

using element = runq::box<wide>*;

TEST(boxed_stress, each_value_of_a_chase_lev) { stress<runq::one_object<runq::chase_lev<element>>>(200'000, 2); }
TEST(boxed_stress, each_value_of_a_tiny_chase_lev) {
  stress<runq::one_object<runq::bounded_chase_lev<element>>>(200'000, 2);
}
TEST(boxed_stress, each_value_of_a_ring) { stress<runq::one_object<runq::ring<element>>>(200'000, 0); }
TEST(boxed_stress, each_value_of_a_split_deque) { stress<runq::one_object<runq::split_deque<element>>>(200'000, 0); }

// Values that own memory: AddressSanitizer reports one that is destroyed twice, or never.
TEST(boxed_stress, values_that_only_move) {
  const std::size_t values = runq_test::stress_size(50'000);
  runq::boxed<runq::one_object<runq::chase_lev<runq::box<std::unique_ptr<std::size_t>>*>>, 2> q(2);
  std::atomic<std::size_t> taken{0};
  std::atomic<bool> done{false};
  std::vector<std::jthread> others;
  for (std::size_t i = 0; i != thieves; ++i) {
    others.emplace_back([&] {
      while (!done.load(std::memory_order::acquire)) {
        if (const auto got = q.steal()) {
          taken.fetch_add(*got.value, std::memory_order::relaxed);
        } else {
          std::this_thread::yield();
        }
      }
    });
  }
  for (std::size_t i = 0; i != values; ++i) {
    ASSERT_TRUE(q.push(std::make_unique<std::size_t>(1)));
    if (i % 4 == 3) {
      if (const auto got = q.pop()) taken.fetch_add(**got, std::memory_order::relaxed);
    }
  }
  done.store(true, std::memory_order::release);
  others.clear();
  EXPECT_EQ(taken.load() + q.size(), values);
}

}  // namespace
