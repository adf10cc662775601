// SPDX-License-Identifier: MIT
// wait_group: row L3, and what Go's own tests check.
#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>

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
          // As in Go's test, used twice.
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
  EXPECT_EQ(text, "runq: only a task can wait; this thread runs none");
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

// A thread outside is done while run after run ends.
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
