// SPDX-License-Identifier: MIT
// Parts of the scheduler that threads share in ways which its other tests do not reach. Under ThreadSanitizer and ./kit
// explore.
#include <atomic>
#include <cstddef>
#include <thread>

#include <gtest/gtest.h>
#include <runq/detail/policy.hpp>
#include <runq/protocol/join_counter.hpp>

namespace {

TEST(short_locks, try_lock_takes_a_lock_that_is_free_and_no_other) {
  runq::detail::short_lock lock;
  ASSERT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  lock.lock();
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
}

TEST(short_locks, of_two_threads_that_try_to_lock_one_does) {
  runq::detail::short_lock lock;
  int sections = 0;
  const auto try_it = [&] {
    for (int i = 0; i != 2; ++i) {
      if (!lock.try_lock()) continue;
      ++sections;
      lock.unlock();
    }
  };
  std::thread other(try_it);
  try_it();
  other.join();
  EXPECT_GE(sections, 2) << "the threads that take turns fail at most while the other one has the lock";
}

// The number of detached children is moved to the shared word two by two, while some arrive there.
TEST(join_counters, a_child_that_arrives_while_others_are_moved_to_the_shared_word_is_counted) {
  constexpr int in_all = 4;
  runq::join_counter<runq::std_atomics, 2> children;
  std::atomic<int> detached{0};
  std::atomic<int> resumed{0};
  std::thread ends([&] {
    for (int i = 0; i != in_all; ++i) {
      while (detached.load() <= i) std::this_thread::yield();
      if (children.arrive()) ++resumed;
    }
  });
  for (int i = 0; i != in_all; ++i) {
    children.detach();
    ++detached;
  }
  if (children.wait()) ++resumed;
  ends.join();
  EXPECT_EQ(resumed, 1) << "the parent goes on once: by itself, or by its last child";
}

}  // namespace
