// SPDX-License-Identifier: MIT
// What --only chooses from: tests of which one fails in some runs, and one starts another process.
#include <atomic>
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

class sizes : public testing::TestWithParam<int> {};
TEST_P(sizes, are_positive) { EXPECT_GT(GetParam(), 0); }
INSTANTIATE_TEST_SUITE_P(some, sizes, testing::Values(1, 2));

TEST(death, ends) { EXPECT_DEATH(std::abort(), ""); }
