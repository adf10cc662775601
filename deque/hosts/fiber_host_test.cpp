// SPDX-License-Identifier: MIT
// Boost.Fiber with our queues behind its scheduling algorithm: every fiber runs once, in trees, with channels, mutexes
// and sleeps, on one thread and on several; and the stacks of fibers that ended are given back.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <boost/fiber/all.hpp>
#include <gtest/gtest.h>

#include "fiber_work_stealing.hpp"

namespace {

namespace fibers = boost::fibers;

/// Runs `body` as the main fiber of thread 0, beside `threads - 1` other threads that help.
void on_threads(std::size_t threads, const std::function<void()>& body) {
  runq_hosts::fiber_workers workers(threads);
  std::mutex mutex;
  fibers::condition_variable_any ended;
  bool end = false;
  const auto thread = [&](std::size_t self) {
    fibers::use_scheduling_algorithm<runq_hosts::fiber_work_stealing>(workers, self);
    if (self == 0) {
      body();
      const std::lock_guard lock(mutex);
      end = true;
      ended.notify_all();
    } else {
      std::unique_lock lock(mutex);
      ended.wait(lock, [&] { return end; });
    }
  };
  std::vector<std::jthread> all;
  for (std::size_t i = 0; i != threads; ++i) all.emplace_back(thread, i);
}

class each_number_of_threads : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(, each_number_of_threads, testing::Values(1, 2, 4));

TEST_P(each_number_of_threads, runs_each_fiber_once_also_those_that_do_not_fit_a_ring) {
  constexpr std::size_t many = 3000;  // a ring has room for 256
  std::vector<std::atomic<int>> runs(many);
  on_threads(GetParam(), [&] {
    std::vector<fibers::fiber> all;
    for (std::size_t i = 0; i != many; ++i) {
      all.emplace_back(fibers::launch::post, [&, i] {
        boost::this_fiber::yield();
        runs[i].fetch_add(1);
      });
    }
    for (fibers::fiber& f : all) f.join();
  });
  for (std::size_t i = 0; i != many; ++i) ASSERT_EQ(runs[i].load(), 1) << "times that fiber " << i << " ran";
}

// A tree of fibers that wait for their children through a channel, as skynet does.
std::size_t sum_of_leaves(std::size_t first, std::size_t leaves) {
  if (leaves == 1) return first;
  constexpr std::size_t children = 10;
  fibers::buffered_channel<std::size_t> sums(16);
  for (std::size_t i = 0; i != children; ++i) {
    fibers::fiber(fibers::launch::post, [&sums, from = first + i * (leaves / children), n = leaves / children] {
      sums.push(sum_of_leaves(from, n));
    }).detach();
  }
  std::size_t sum = 0;
  for (std::size_t i = 0; i != children; ++i) sum += sums.value_pop();
  return sum;
}
TEST_P(each_number_of_threads, a_tree_of_fibers_adds_up) {
  constexpr std::size_t leaves = 1000;
  on_threads(GetParam(), [] { EXPECT_EQ(sum_of_leaves(0, leaves), leaves * (leaves - 1) / 2); });
}

TEST_P(each_number_of_threads, fibers_that_sleep_lock_and_wait_all_end) {
  constexpr int many = 200;
  fibers::mutex mutex;
  fibers::condition_variable changed;
  int in = 0;
  on_threads(GetParam(), [&] {
    std::vector<fibers::fiber> all;
    for (int i = 0; i != many; ++i) {
      all.emplace_back([&] {
        boost::this_fiber::sleep_for(std::chrono::microseconds(50));
        std::unique_lock lock(mutex);
        ++in;
        changed.notify_all();
        changed.wait(lock, [&] { return in == many; });
      });
    }
    for (fibers::fiber& f : all) f.join();
  });
  EXPECT_EQ(in, many);
}

/// Counts the stacks that exist.
class counting_stacks {
 public:
  counting_stacks(std::atomic<int>& now, std::atomic<int>& most) : now_(&now), most_(&most) {}
  boost::context::stack_context allocate() {
    const int n = now_->fetch_add(1) + 1;
    for (int seen = most_->load(); seen < n && !most_->compare_exchange_weak(seen, n);) continue;
    return stacks_.allocate();
  }
  void deallocate(boost::context::stack_context& stack) noexcept {
    now_->fetch_sub(1);
    stacks_.deallocate(stack);
  }

 private:
  std::atomic<int>* now_;
  std::atomic<int>* most_;
  boost::context::fixedsize_stack stacks_{16 * 1024};
};

// The dispatcher frees stacks. If it waited until the ring is empty, all stacks of a long run would be kept.
TEST(fiber_stacks, are_given_back_while_other_fibers_are_ready) {
  constexpr int many = 20'000;
  constexpr int at_once = 8;
  std::atomic<int> now{0};
  std::atomic<int> most{0};
  on_threads(1, [&] {
    // Each fiber starts the next one, so the ring is never empty.
    std::latch done(at_once);
    std::function<void(int)> chain = [&](int left) {
      if (left == 0) return done.count_down();
      fibers::fiber(fibers::launch::post, std::allocator_arg, counting_stacks(now, most), chain, left - 1).detach();
    };
    for (int i = 0; i != at_once; ++i) chain(many / at_once);
    while (!done.try_wait()) boost::this_fiber::yield();
  });
  // Main fiber and dispatcher take turns at each 16th dispatch.
  EXPECT_LE(most.load(), at_once + 2 * 16) << "the dispatcher has its turn too rarely";
  EXPECT_EQ(now.load(), 0);
}

}  // namespace
