// SPDX-License-Identifier: MIT
// shared_fifo on real threads: every value is taken exactly once, and those of one producer in order.
// RUNQ_STRESS=n makes every run n times as long.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <runq/shared_fifo.hpp>

#include "support.hpp"

namespace {

using runq_test::takers;
using task = runq_test::parcel;
using queue = runq::shared_fifo<task*>;

constexpr std::size_t producers = 3;
constexpr std::size_t consumers = 3;

TEST(shared_fifo_stress, Q17_every_task_is_taken_once_and_those_of_a_producer_in_order) {
  const std::size_t each = runq_test::stress_size(400'000);
  std::vector<task> tasks(producers * each);
  queue q;
  std::atomic<std::size_t> producing{producers};
  takers log(consumers);

  const auto produce = [&](std::size_t self) {
    runq_test::dice dice(self);
    auto next = static_cast<std::uint32_t>(self * each);
    const std::size_t end = (self + 1) * each;
    while (next != end) {
      std::vector<task*> batch;
      for (std::size_t n = 1 + dice.roll(4) * dice.roll(32); n != 0 && next != end; --n, ++next) {
        tasks[next].pack(next);
        batch.push_back(&tasks[next]);
      }
      ASSERT_TRUE(batch.size() == 1 ? q.put(batch[0]) : q.put_batch(batch));
    }
    producing.fetch_sub(1, std::memory_order::release);
  };

  const auto consume = [&](std::size_t self) {
    runq_test::dice dice(100 + self);
    std::array<std::uint32_t, producers> next_of{};
    std::array<task*, queue::max_batch> share{};
    for (;;) {
      const bool last_look = producing.load(std::memory_order::acquire) == 0;
      if (!q.has_work_approx()) {
        if (last_look) return;
        std::this_thread::yield();
        continue;
      }
      const std::size_t room = dice.roll(4) != 0 ? 1 : 1 + dice.roll(share.size());
      const std::size_t n = q.take_batch(1 + dice.roll(4), std::span(share).first(room));
      for (task* const t : std::span(share).first(n)) {
        log.open(self, t);
        std::uint32_t& next = next_of[t->id / each];
        ASSERT_LE(next, t->id) << "a newer task of the same producer came first";
        next = t->id + 1;
      }
    }
  };

  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i != producers; ++i) threads.emplace_back(produce, i);
  for (std::size_t i = 0; i != consumers; ++i) threads.emplace_back(consume, i);
  threads.clear();
  EXPECT_FALSE(q.has_work_approx());
  log.expect_each_once(tasks.size());
}

}  // namespace
