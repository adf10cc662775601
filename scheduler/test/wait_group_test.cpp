// SPDX-License-Identifier: MIT
// wait_group: row L3, and the properties that Go's own tests check.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "support.hpp"

namespace {

using runq::task;
using runq::wait_group;
using sched_test::rounds;
using sched_test::yield_until;

TEST(wait_group, L3_wait_returns_at_once_when_the_count_is_0) {
  runq::run([]() -> task<> {
    wait_group group;
    co_await group.wait();
    group.add(3);
    group.add(-3);
    co_await group.wait();
  });
}

TEST(wait_group, L3_wait_returns_when_the_last_is_done_and_not_before) {
  for (const unsigned procs : sched_test::proc_counts) {
    runq::run(
        []() -> task<> {
          wait_group group;
          wait_group exited;
          std::atomic<int> done{0};
          // As in Go's test, the groups are used several times.
          for (int round = 0; round != 8; ++round) {
            done = 0;
            group.add(16);
            exited.add(16);
            for (int i = 0; i != 16; ++i) {
              runq::go([&]() -> task<> {
                ++done;
                group.done();
                co_await group.wait();
                EXPECT_EQ(done, 16);
                exited.done();
              });
            }
            co_await group.wait();
            EXPECT_EQ(done, 16);
            co_await exited.wait();
          }
        },
        {.procs = procs});
  }
}

TEST(wait_group, L3_all_waiting_tasks_go_on) {
  for (const unsigned procs : sched_test::proc_counts) {
    runq::run(
        []() -> task<> {
          wait_group group;
          wait_group woken;
          group.add(1);
          woken.add(20);
          std::atomic<int> waiting{0};
          for (int i = 0; i != 20; ++i) {
            runq::go([&]() -> task<> {
              ++waiting;
              co_await group.wait();
              woken.done();
            });
          }
          co_await yield_until([&] { return waiting == 20; });
          group.done();
          co_await woken.wait();
        },
        {.procs = procs});
  }
}

TEST(wait_group, L3_a_negative_count_is_misuse) {
  wait_group group;
  EXPECT_EQ(sched_test::misuse_of([&] { group.done(); }), "sync: negative WaitGroup counter");
  wait_group other;
  other.add(2);
  EXPECT_EQ(sched_test::misuse_of([&] { other.add(-3); }), "sync: negative WaitGroup counter");
}

TEST(wait_group, L3_a_count_that_does_not_fit_is_misuse) {
  constexpr const char* text = "runq: a wait_group counts to 2⁶¹ - 1 at most";
  constexpr std::int64_t most = (std::int64_t{1} << 61) - 1;
  wait_group group;
  group.add(most);
  group.add(-1);
  group.add(1);
  EXPECT_EQ(sched_test::misuse_of([&] { group.add(1); }), text);
  for (const std::int64_t n : {most + 1, std::int64_t{1} << 62, std::numeric_limits<std::int64_t>::max()}) {
    wait_group fresh;
    fresh.add(1);
    EXPECT_EQ(sched_test::misuse_of([&] { fresh.add(n); }), text) << n;
  }
  wait_group negative;
  negative.add(most);
  EXPECT_EQ(sched_test::misuse_of([&] { negative.add(std::numeric_limits<std::int64_t>::min()); }),
            "sync: negative WaitGroup counter");
}

// A policy for wait_group_core that calls `meanwhile` after the count has become 0 and before the waiting tasks are
// woken.
struct reuse_policy {
  using atomics = runq::detail::policy;
  struct task {
    bool woken = false;
  };
  using sleeper = task*;
  static void wake(sleeper t) { t->woken = true; }
  static bool asleep(sleeper t) { return !t->woken; }
  static inline std::function<void()> meanwhile;
  template <class Condition>
  static void spin_until(Condition&& condition) {
    if (meanwhile) std::exchange(meanwhile, nullptr)();
    ASSERT_TRUE(condition());
  }
};

TEST(wait_group, L3_add_before_the_waiting_tasks_are_woken_is_misuse) {
  using runq::detail::counting;
  for (const bool reused : {true, false}) {
    runq::detail::wait_group_core<reuse_policy> group;
    reuse_policy::task who;
    runq::detail::waiter<reuse_policy> place;
    place.who.set(&who);
    ASSERT_EQ(group.add(2), counting::done);
    ASSERT_EQ(group.add(-1), counting::done);
    ASSERT_TRUE(group.enlist(place));
    reuse_policy::meanwhile = [&] {
      EXPECT_FALSE(who.woken);
      EXPECT_EQ(group.add(0), counting::done);
      if (reused) {
        EXPECT_EQ(group.add(1), counting::reused);
      }
    };
    EXPECT_EQ(group.add(-1), counting::done);
    EXPECT_TRUE(who.woken);
    EXPECT_EQ(group.add(1), counting::done) << "all have been woken";
  }
}

TEST(wait_group, L3_the_message_for_a_reuse_says_what_to_do) {
  EXPECT_EQ(sched_test::misuse_of([] { runq::detail::throw_wait_group_misuse(runq::detail::counting::reused); }),
            "sync: WaitGroup is reused before previous Wait has returned; call add() again after every wait() has "
            "returned, or use a group for each set of tasks");
}

TEST(wait_group, outside_a_scheduler_a_wait_throws_and_one_that_need_not_wait_does_not) {
  wait_group group;
  std::string text = "(nothing)";
  const auto wait = [](wait_group& on, std::string& what) -> sched_test::by_hand {
    try {
      co_await on.wait();
    } catch (const runq::misuse& error) {
      what = error.what();
    }
  };
  wait(group, text);
  EXPECT_EQ(text, "(nothing)");
  group.add(1);
  wait(group, text);
  EXPECT_EQ(text, "runq: only a task can wait; this thread runs none, or is in a blocking_section");
}

TEST(wait_group, L3_threads_outside_may_be_done) {
  runq::scheduler s({.procs = 2});
  const auto outside = s.attach();
  for (std::size_t i = 0; i != rounds(500); ++i) {
    std::thread worker;
    int result = 0;  // plain: done() publishes it
    s.run([&]() -> task<> {
      wait_group group;
      group.add(1);
      worker = std::thread([&] {
        result = 1;
        group.done();
      });
      co_await group.wait();
      EXPECT_EQ(result, 1);
    });
    worker.join();
  }
}

// Go's TestWaitGroupRace, and a difference from Go: the group may be destroyed as soon as wait() has returned.
TEST(wait_group, L3_a_group_may_be_destroyed_as_soon_as_wait_has_returned) {
  for (const unsigned procs : {2U, 4U}) {
    runq::run(
        []() -> task<> {
          for (std::size_t i = 0; i != rounds(50'000); ++i) {
            int sum[2] = {0, 0};  // plain: done() publishes them
            {
              const auto group = std::make_unique<wait_group>();
              group->add(2);
              for (int& n : sum) {
                runq::go([&n, g = group.get()] {
                  n = 1;
                  g->done();
                });
              }
              co_await group->wait();
            }
            EXPECT_EQ(sum[0] + sum[1], 2);
          }
        },
        {.procs = procs});
  }
}

// ---- tasks that wait when their run ends ----------------------------------------------------------------------------

TEST(wait_group, a_group_forgets_the_tasks_that_ended_with_main) {
  runq::scheduler s({.procs = 1});
  wait_group group;
  for (int i = 0; i != 3; ++i) {
    int through = 0;
    group.add(1);
    s.run([&]() -> task<> {
      for (int k = 0; k != 3; ++k) {
        runq::go([&]() -> task<> {
          co_await group.wait();
          ++through;
        });
      }
      co_await runq::yield();
    });
    group.done();
    EXPECT_EQ(through, 0);
    group.add(1);
    s.run([&]() -> task<> {
      runq::go([&] { group.done(); });
      co_await group.wait();
      ++through;
    });
    EXPECT_EQ(through, 1) << "the group does not work any more";
  }
}

TEST(wait_group, tasks_that_wait_when_main_ends_may_outlive_the_group) {
  for (const bool woken : {false, true}) {
    runq::run(
        [&]() -> task<> {
          const auto group = std::make_unique<wait_group>();
          group->add(1);
          for (int k = 0; k != 3; ++k) runq::go([&]() -> task<> { co_await group->wait(); });
          co_await runq::yield();
          if (woken) group->done();
        },
        {.procs = 1});
  }
}

// A thread outside calls done() while one run after the other ends.
TEST(wait_group, a_thread_outside_meets_tasks_that_end_with_main) {
  runq::scheduler s({.procs = 2});
  const auto outside = s.attach();
  for (std::size_t i = 0; i != std::max<std::size_t>(rounds(2'000), 100); ++i) {
    wait_group group;
    group.add(2);
    std::thread other([&] { group.done(); });
    s.run([&]() -> task<> {
      for (int k = 0; k != 4; ++k) runq::go([&]() -> task<> { co_await group.wait(); });
      for (std::size_t k = 0; k != i % 3; ++k) co_await runq::yield();
      group.done();
    });
    other.join();
  }
}

}  // namespace
