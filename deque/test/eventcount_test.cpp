// SPDX-License-Identifier: MIT
// Who sleeps, who is woken, and what a notification costs.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>
#include <runq/chase_lev.hpp>
#include <runq/eventcount.hpp>
#include <runq/membarrier.hpp>

namespace {

using namespace std::chrono_literals;

// Counts the system calls of a sleep.
struct counted_sleep : runq::detail::word_sleep {
  explicit counted_sleep(int* wakes) : wakes_(wakes) {}
  void wake(word& at, std::uint32_t threads) noexcept {
    ++*wakes_;
    runq::detail::word_sleep::wake(at, threads);
  }

 private:
  int* wakes_;
};

TEST(eventcount, a_notification_that_finds_nobody_makes_no_system_call) {
  int wakes = 0;
  runq::basic_eventcount<runq::std_atomics, counted_sleep> idle(&wakes);
  idle.notify_one();
  idle.notify_all();
  EXPECT_EQ(wakes, 0);
  const auto mine = idle.prepare();
  EXPECT_EQ(idle.waiting_approx(), 1U);
  idle.notify_one();
  EXPECT_EQ(wakes, 1);
  idle.cancel(mine);
  EXPECT_EQ(idle.waiting_approx(), 0U);
  idle.notify_one();
  EXPECT_EQ(wakes, 1);
}

TEST(eventcount, a_notification_between_prepare_and_wait_ends_the_wait_at_once) {
  runq::eventcount idle;
  const auto mine = idle.prepare();
  idle.notify_one();
  idle.wait(mine);
  EXPECT_EQ(idle.waiting_approx(), 0U);
}

#if defined(__linux__)  // elsewhere a sleep has no time limit

TEST(eventcount, a_notification_before_prepare_does_not_end_the_wait) {
  runq::eventcount idle;
  const auto old = idle.prepare();
  idle.notify_one();
  idle.wait(old);
  EXPECT_FALSE(idle.wait_for(idle.prepare(), 1ms));
  EXPECT_EQ(idle.waiting_approx(), 0U);
}

TEST(eventcount, a_time_limit_is_kept_and_may_be_any_duration) {
  runq::eventcount idle;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(idle.wait_for(idle.prepare(), 20ms));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 20ms);
  EXPECT_FALSE(idle.wait_for(idle.prepare(), 0ns));
  EXPECT_FALSE(idle.wait_for(idle.prepare(), -1h));
  const auto mine = idle.prepare();
  idle.notify_one();
  EXPECT_TRUE(idle.wait_for(mine, std::chrono::nanoseconds::max()));
}

TEST(eventcount, a_sleep_of_the_longest_time_ends_by_a_notification) {
  runq::eventcount idle;
  std::atomic<bool> woken{false};
  // Again and again: a notification that comes within prepare() counts for nobody.
  std::thread waker([&] {
    while (!woken) {
      idle.notify_one();
      std::this_thread::yield();
    }
  });
  EXPECT_TRUE(idle.wait_for(idle.prepare(), std::chrono::nanoseconds::max()));
  woken = true;
  waker.join();
}

#endif

TEST(eventcount, a_condition_that_holds_is_asked_once) {
  runq::eventcount idle;
  int asked = 0;
  idle.await([&] { return ++asked == 1; });
  EXPECT_EQ(asked, 1);
  idle.await([&] { return ++asked == 3; });  // true between prepare() and wait()
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(idle.waiting_approx(), 0U);
}

#ifdef __cpp_exceptions
TEST(eventcount, a_condition_that_throws_leaves_nobody_counted) {
  runq::eventcount idle;
  int asked = 0;
  const auto throws = [&] { return ++asked == 1 ? false : throw std::runtime_error("no"); };
  EXPECT_THROW(idle.await(throws), std::runtime_error);
  EXPECT_EQ(idle.waiting_approx(), 0U);
}
#endif

TEST(eventcount, as_many_threads_wake_as_were_notified) {
  runq::eventcount idle;
  constexpr int sleepers = 4;
  std::atomic<int> awake{0};
  std::vector<std::thread> threads;
  for (int i = 0; i != sleepers; ++i) {
    threads.emplace_back([&] {
      idle.wait(idle.prepare());
      ++awake;
    });
  }
  while (idle.waiting_approx() != sleepers) std::this_thread::yield();
  idle.notify(2);
  while (awake.load() < 2) std::this_thread::yield();
  idle.notify_all();
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(awake.load(), sleepers);
}

// One owner makes tasks one at a time, so that its thieves fall asleep in between; a lost wake-up would hang here. The
// end: a flag, and a notification of all.
template <class Eventcount>
class a_pool : public testing::Test {};
using eventcounts = testing::Types<runq::eventcount, runq::basic_eventcount<runq::membarrier_atomics>>;

struct names {
  template <class Eventcount>
  static std::string GetName(int i) {
    return i == 0 ? "fences" : "membarrier";
  }
};
TYPED_TEST_SUITE(a_pool, eventcounts, names);

TYPED_TEST(a_pool, runs_every_task_although_its_threads_sleep_between_two) {
  constexpr int tasks = 2'000;
  TypeParam idle;
  runq::chase_lev<int*> deque;
  auto owner = deque.make_owner();
  std::vector<int> task(tasks);
  std::atomic<int> ran{0};
  std::atomic<bool> stopping{false};
  std::vector<std::thread> thieves;
  for (int i = 0; i != 3; ++i) {
    thieves.emplace_back([&] {
      const auto thief = deque.make_thief();
      for (;;) {
        idle.await([&] { return thief.has_work() || stopping.load(std::memory_order::relaxed); });
        const auto loot = thief.steal();
        if (loot) {
          ++ran;
        } else if (stopping.load(std::memory_order::relaxed) && !thief.has_work()) {
          return;
        }
      }
    });
  }
  for (int& t : task) {
    ASSERT_TRUE(owner.push(&t));
    idle.notify_one();
    if (&t - task.data() < tasks / 2) {
      while (deque.make_thief().has_work()) std::this_thread::yield();  // so that they fall asleep again
    }
  }
  stopping.store(true, std::memory_order::relaxed);
  idle.notify_all();
  for (std::thread& t : thieves) t.join();
  EXPECT_EQ(ran.load(), tasks);
  EXPECT_EQ(idle.waiting_approx(), 0U);
}

static_assert(!std::is_copy_constructible_v<runq::eventcount>);

}  // namespace
