// SPDX-License-Identifier: MIT
// Who makes a barrier, and who shares one.
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <runq/membarrier.hpp>
#include <runq/shared_barrier.hpp>

namespace {

TEST(shared_barrier, a_thread_that_is_alone_makes_its_own) {
  runq::shared_barrier<runq::std_atomics> barrier;
  int made = 0;
  for (int i = 0; i != 3; ++i) EXPECT_TRUE(barrier.pass([&]() noexcept { ++made; }));
  EXPECT_EQ(made, 3);
}

// Four threads ask again and again, until one has shared another one's barrier. Without sharing this does not end.
TEST(shared_barrier, threads_that_ask_at_the_same_time_share_one) {
  runq::shared_barrier<runq::std_atomics, 100'000'000> barrier;
  std::atomic<int> made{0};
  std::atomic<int> shared{0};
  std::vector<std::thread> threads;
  for (int t = 0; t != 4; ++t) {
    threads.emplace_back([&] {
      while (shared.load() == 0) {
        const bool mine = barrier.pass([&]() noexcept {
          ++made;
          std::this_thread::yield();  // so that others ask meanwhile, on one processor, too
        });
        if (!mine) ++shared;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_GE(shared.load(), 1);
  EXPECT_GE(made.load(), 1);
}

// As in a child of fork(), where the thread that was making a barrier does not exist.
TEST(shared_barrier, a_thread_does_not_wait_for_ever_for_a_barrier_that_never_ends) {
  runq::shared_barrier<runq::std_atomics, 10> barrier;
  int made = 0;
  const auto count = [&made]() noexcept { ++made; };
  const bool outer = barrier.pass([&]() noexcept {
    EXPECT_TRUE(barrier.pass(count));  // while the outer one is under way: after ten looks, its own
    EXPECT_TRUE(barrier.pass(count));  // as if the outer one had ended
  });
  EXPECT_TRUE(outer);
  EXPECT_EQ(made, 2);
  EXPECT_TRUE(barrier.pass(count));
  EXPECT_EQ(made, 3);
}

TEST(shared_barrier, heavy_fences_at_the_same_time_are_counted_once_each) {
  using runq::membarrier_atomics;
  constexpr std::uint64_t each = 200;
  const std::uint64_t before = membarrier_atomics::barriers() + membarrier_atomics::shared_barriers();
  std::vector<std::thread> threads;
  for (int t = 0; t != 3; ++t) {
    threads.emplace_back([] {
      for (std::uint64_t i = 0; i != each; ++i) membarrier_atomics::heavy_fence(std::memory_order::seq_cst);
    });
  }
  for (std::thread& t : threads) t.join();
  const std::uint64_t all = membarrier_atomics::barriers() + membarrier_atomics::shared_barriers() - before;
  EXPECT_EQ(all, membarrier_atomics::asymmetric() ? 3 * each : 0U);
}

}  // namespace
