// SPDX-License-Identifier: MIT
// options::until, with which a run ends only when every task has ended. Rows SC3, L7, X11, X12.
#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>

#include "support.hpp"

namespace {

using runq::task;
using testing::ContainsRegex;

constexpr runq::options until_all(unsigned procs) { return {.procs = procs, .until = runq::run_until::all_have_ended}; }

task<> yields_and_counts(std::atomic<int>& ended) {
  for (int i = 0; i != 20; ++i) co_await runq::yield();
  ++ended;
}

class run_until_all : public sched_test::alarmed {};

TEST_F(run_until_all, X11_tasks_that_main_has_started_end_by_themselves) {
  for (const unsigned procs : sched_test::proc_counts) {
    for (std::size_t round = 0; round != sched_test::rounds(200); ++round) {
      std::atomic<int> ended{0};
      const int result = runq::run(
          [&]() -> task<int> {
            for (int i = 0; i != 10; ++i) runq::go(yields_and_counts(ended));
            co_return 7;
          },
          until_all(procs));
      EXPECT_EQ(result, 7);
      EXPECT_EQ(ended, 10);
    }
  }
}

TEST_F(run_until_all, SC3_tasks_that_other_tasks_start_also_end_by_themselves) {
  struct grows {
    std::atomic<int>& ended;
    task<> operator()(int depth) const {
      if (depth != 0) {
        for (int i = 0; i != 3; ++i) runq::go([this, depth]() -> task<> { co_await (*this)(depth - 1); });
      }
      co_await runq::yield();
      ++ended;
    }
  };
  for (const unsigned procs : sched_test::proc_counts) {
    std::atomic<int> ended{0};
    const grows tree{ended};
    runq::run([&] { runq::go([&]() -> task<> { co_await tree(5); }); }, until_all(procs));
    EXPECT_EQ(ended, 364);
  }
}

TEST_F(run_until_all, SC3_tasks_end_by_themselves_whatever_they_wait_for) {
  for (const unsigned procs : sched_test::proc_counts) {
    std::atomic<int> ended{0};
    runq::channel<int> numbers;
    runq::run(
        [&]() -> task<> {
          runq::go([&]() -> task<> {
            co_await runq::sleep_for(std::chrono::milliseconds(1));
            co_await numbers.send(1);
            ++ended;
          });
          runq::go([&]() -> task<> {
            (void)co_await numbers.receive();
            ++ended;
          });
          runq::go([&]() -> task<> {
            co_await runq::blocking([] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
            ++ended;
          });
          const runq::blocking_section main_ends_within;
          co_return;
        },
        until_all(procs));
    EXPECT_EQ(ended, 3);
  }
}

TEST_F(run_until_all, SC3_an_exception_that_leaves_main_is_thrown_when_all_tasks_have_ended) {
  for (const unsigned procs : sched_test::proc_counts) {
    std::atomic<int> ended{0};
    std::string text;
    try {
      runq::run(
          [&]() -> task<> {
            for (int i = 0; i != 10; ++i) runq::go(yields_and_counts(ended));
            throw std::runtime_error("from main");
          },
          until_all(procs));
    } catch (const std::runtime_error& error) {
      text = error.what();
    }
    EXPECT_EQ(text, "from main");
    EXPECT_EQ(ended, 10);
  }
}

TEST_F(run_until_all, SC3_a_stop_request_by_main_reaches_them_after_its_end) {
  for (const unsigned procs : sched_test::proc_counts) {
    std::atomic<int> stopped{0};
    std::stop_source stopping;
    runq::run(
        [&]() -> task<> {
          for (int i = 0; i != 4; ++i) {
            runq::go([&]() -> task<> {
              if (co_await runq::select(stopping.get_token()) == runq::stopped) ++stopped;
            });
          }
          stopping.request_stop();
          co_return;
        },
        until_all(procs));
    EXPECT_EQ(stopped, 4);
  }
}

TEST_F(run_until_all, SC3_one_run_after_the_other) {
  runq::scheduler s(until_all(2));
  for (std::size_t round = 0; round != sched_test::rounds(2'000); ++round) {
    std::atomic<int> ended{0};
    s.run([&] {
      for (int i = 0; i != 3; ++i) runq::go(yields_and_counts(ended));
    });
    EXPECT_EQ(ended, 3);
  }
}

// Another task may end before main has begun. That must not end the run, although no other task is left.
TEST_F(run_until_all, SC3_main_runs_even_if_another_task_ends_just_before) {
  runq::scheduler s(until_all(2));
  for (std::size_t round = 0; round != sched_test::rounds(2'000); ++round) {
    bool main_ran = false;
    {
      const auto handle = s.attach();
      handle.go([] {});
    }
    s.run([&] { main_ran = true; });
    EXPECT_TRUE(main_ran);
  }
}

TEST(run_until_all_fatal, L7_tasks_that_wait_for_each_other_after_main_are_a_deadlock) {
  RUNQ_EXPECT_STATUS_2(
      {
        runq::channel<int> c;
        runq::run([&] { runq::go([&]() -> task<> { (void)co_await c.receive(); }, "left behind"); }, until_all(2));
      },
      ContainsRegex("^fatal error: all goroutines are asleep - deadlock!\n\ngoroutine [0-9]+ "
                    "\\[chan receive\\]:\nleft behind\n"));
}

TEST(run_until_all_fatal, X12_an_exception_that_leaves_a_task_after_main_is_a_panic) {
  RUNQ_EXPECT_STATUS_2(runq::run(
                           [] {
                             runq::go([]() -> task<> {
                               co_await runq::yield();
                               throw std::runtime_error("after main");
                             });
                           },
                           until_all(2)),
                       ContainsRegex("^panic: after main\n"));
}

}  // namespace
