// SPDX-License-Identifier: MIT
// The test of docs/checking.md, as it stands there: it fails, because of a bug.
#include <atomic>
#include <thread>

#include <gtest/gtest.h>
#include <runq/check.hpp>

RUNQ_TEST(Flag, Publishes) {
  int data = 0;
  std::atomic<bool> ready{false};
  std::jthread writer([&] {
    data = 42;
    ready.store(true, std::memory_order::relaxed);  // the bug: has to be release
  });
  if (ready.load(std::memory_order::acquire)) EXPECT_EQ(data, 42);
}
