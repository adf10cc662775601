// SPDX-License-Identifier: MIT
// What --only chooses from: tests of which three fail in some runs, one skips itself, and one starts another process.
#include <atomic>
#include <cassert>
#include <cstdlib>
#include <thread>

#include <gtest/gtest.h>

TEST(counter, adds_atomically) {
  std::atomic<int> n{0};
  std::thread other([&] { n.fetch_add(1, std::memory_order::relaxed); });
  n.fetch_add(1, std::memory_order::relaxed);
  other.join();
  EXPECT_EQ(n.load(std::memory_order::relaxed), 2);
}

TEST(counter, loses_an_update) {
  std::atomic<int> n{0};
  const auto add = [&] { n.store(n.load(std::memory_order::relaxed) + 1, std::memory_order::relaxed); };
  std::thread other(add);
  add();
  other.join();
  EXPECT_EQ(n.load(std::memory_order::relaxed), 2);
}

// Two that fail within the run, so that its steps are known.
void add_carelessly(int by) {
  std::atomic<int> n{0};
  const auto add = [&] { n.store(n.load(std::memory_order::relaxed) + by, std::memory_order::relaxed); };
  std::thread other(add);
  add();
  other.join();
  assert(n.load(std::memory_order::relaxed) == 2 * by);
}
TEST(counter, loses_a_decrement) { add_carelessly(-1); }
TEST(counter, loses_a_dozen) { add_carelessly(12); }

TEST(skips, itself) { GTEST_SKIP() << "not today"; }

class sizes : public testing::TestWithParam<int> {};
TEST_P(sizes, are_positive) { EXPECT_GT(GetParam(), 0); }
INSTANTIATE_TEST_SUITE_P(some, sizes, testing::Values(1, 2));

TEST(death, ends) { EXPECT_DEATH(std::abort(), ""); }
