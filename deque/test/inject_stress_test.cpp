// SPDX-License-Identifier: MIT
// inject on real threads. Row Q17: every element is taken exactly once. Row Q9: first in, first out.
// RUNQ_STRESS=n makes every run n times as long.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <runq/inject.hpp>

#include "support.hpp"

namespace {

using runq_test::takers;

struct task : runq_test::parcel {
  runq::inject_link<task> link{};
};
using queue = runq::inject<&task::link>;

constexpr std::size_t producers = 3;
constexpr std::size_t consumers = 3;

// Producers call put() and splice(). Consumers take one element or a fair share. With `put_back` they sometimes put a
// share back in front.
void produce_and_consume(bool put_back) {
  const std::size_t each = runq_test::stress_size(400'000);
  const std::size_t elements = producers * each;
  std::vector<task> tasks(elements);
  queue q;
  std::atomic<std::size_t> producing{producers};
  takers log(consumers);

  const auto produce = [&](std::size_t self) {
    runq_test::dice dice(self);
    auto next = static_cast<std::uint32_t>(self * each);
    const std::size_t end = (self + 1) * each;
    while (next != end) {
      queue::chain batch;
      for (std::size_t n = 1 + dice.roll(4) * dice.roll(32); n != 0 && next != end; --n, ++next) {
        tasks[next].pack(next);
        batch.push_back(&tasks[next]);
      }
      if (batch.size() == 1) {
        q.put(batch.pop_front());
      } else {
        q.splice(std::move(batch));
      }
    }
    producing.fetch_sub(1, std::memory_order::release);
  };

  const auto consume = [&](std::size_t self) {
    runq_test::dice dice(100 + self);
    std::array<std::uint32_t, producers> next_of{};
    const auto open = [&](task* t) {
      log.open(self, t);
      std::uint32_t& next = next_of[t->id / each];
      if (!put_back) {
        ASSERT_LE(next, t->id) << "a newer task of the same producer came first";
      }
      next = t->id + 1;
    };
    for (;;) {
      const bool last_look = producing.load(std::memory_order::acquire) == 0;
      if (!q.has_work_approx()) {
        // A consumer that has put something back goes on until it sees the queue empty, so nothing is left behind.
        if (last_look) return;
        std::this_thread::yield();
        continue;
      }
      if (dice.roll(4) != 0) {
        if (task* const t = q.take()) open(t);
        continue;
      }
      queue::chain batch = q.take_batch(consumers);
      if (put_back && dice.roll(4) == 0) {
        q.splice_front(std::move(batch));
      } else {
        while (task* const t = batch.pop_front()) open(t);
      }
    }
  };

  runq_test::in_threads(producers + consumers,
                        [&](std::size_t i) { i < producers ? produce(i) : consume(i - producers); });
  log.expect_each_once(elements);
  EXPECT_EQ(q.size_approx(), 0U);
}

TEST(inject_stress, Q9_three_producers_and_three_consumers_take_each_task_once_in_each_producers_order) {
  produce_and_consume(false);
}

TEST(inject_stress, Q17_each_task_is_taken_once_also_when_some_are_put_back_in_front) { produce_and_consume(true); }

}  // namespace
