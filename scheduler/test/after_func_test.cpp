// SPDX-License-Identifier: MIT
// after_func: every sentence of after_func.hpp. In the tests of `later_by_clock` only the test moves the clock. No test
// fails because something comes late. If something never comes, an alarm ends the program.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "clock_of_test.hpp"
#include "support.hpp"

namespace {

using namespace std::chrono_literals;
using runq::after_func;
using runq::delayed_task;
using runq::run_until;
using runq::scheduler;
using runq::task;
using sched_test::interposed;
using sched_test::slow_build;
using sched_test::time_of_test;
using sched_test::yield_until;

class later : public sched_test::alarmed {};
using later_death = later;

// ---- calls ----------------------------------------------------------------------------------------------------------

TEST_F(later, a_function_is_called_once_in_a_task_of_its_own_and_not_early) {
  for (const unsigned procs : {1U, 2U}) {
    int calls = 0;
    const auto main = [&]() -> task<> {
      const auto begin = runq::clock::now();
      const auto my_id = runq::this_task::id();
      runq::channel<runq::clock::time_point> called(1);
      const auto handle = after_func(2ms, [&] {
        ++calls;
        EXPECT_NE(runq::this_task::id(), my_id);
        EXPECT_EQ(called.try_send(runq::clock::now()), runq::channel_result::done);
      });
      const auto when = co_await called.receive();
      EXPECT_GE(*when, begin + 2ms);
    };
    runq::run(main, {.procs = procs, .until = run_until::all_have_ended});
    EXPECT_EQ(calls, 1);
  }
}

TEST_F(later, a_function_may_return_a_task_and_wait) {
  runq::run([]() -> task<> {
    runq::wait_group done;
    done.add(1);
    const auto handle = after_func(0s, [&, at_once = std::make_unique<int>(7)]() -> task<int> {
      co_await runq::sleep_for(1ms);
      const int n = *at_once;
      EXPECT_EQ(n, 7);
      done.done();
      co_return n;
    });
    co_await done.wait();
  });
}

TEST_F(later_death, an_exception_that_leaves_it_ends_the_process) {
  GTEST_FLAG_SET(death_test_style, sched_test::death_test_style);
  const auto fails = [] {
    runq::run([]() -> task<> {
      const auto handle = after_func(0s, [] { throw std::runtime_error("too late"); });
      co_await runq::sleep_for(1h);
    });
  };
  EXPECT_EXIT(fails(), testing::ExitedWithCode(2), "panic: too late");
}

// ---- stop() ---------------------------------------------------------------------------------------------------------

TEST_F(later, a_stopped_function_is_not_called_and_leaves_neither_task_nor_timer) {
  scheduler s({.procs = 2, .until = run_until::all_have_ended});
  // The run ends only when the task that waited has ended, too.
  s.run([&]() -> task<> {
    auto handle = after_func(1h, [] { ADD_FAILURE() << "called after stop()"; });
    EXPECT_TRUE(handle.stop());
    EXPECT_FALSE(handle.stop());
    EXPECT_EQ(s.stats().timers, 0U);
    co_return;
  });
}

TEST_F(later, a_handle_that_is_destroyed_or_assigned_to_stops_its_function) {
  runq::run(
      []() -> task<> {
        {
          const auto destroyed = after_func(1h, [] { ADD_FAILURE() << "called after the handle's end"; });
        }
        runq::wait_group done;
        done.add(1);
        delayed_task handle = after_func(1h, [] { ADD_FAILURE() << "called after the assignment"; });
        handle = after_func(1ms, [&] { done.done(); });
        co_await done.wait();
        EXPECT_FALSE(handle.stop());
      },
      {.procs = 2, .until = run_until::all_have_ended});
}

TEST_F(later, a_handle_may_be_moved) {
  runq::run(
      []() -> task<> {
        runq::wait_group done;
        done.add(1);
        delayed_task a = after_func(1h, [&] { done.done(); });
        delayed_task b(std::move(a));
        EXPECT_FALSE(a.stop());  // NOLINT(bugprone-use-after-move): it has no function
        delayed_task c;
        EXPECT_FALSE(c.stop());
        c = std::move(b);
        EXPECT_TRUE(c.reset(0s));
        co_await done.wait();
      },
      {.procs = 2, .until = run_until::all_have_ended});
}

TEST_F(later, either_stop_returns_true_or_the_function_is_called) {
  constexpr int rounds = slow_build ? 300 : 3000;
  int stopped = 0;
  std::atomic<int> calls{0};
  runq::run(
      [&]() -> task<> {
        for (int i = 0; i != rounds; ++i) {
          auto handle = after_func(std::chrono::microseconds(i % 7 * 5), [&] { ++calls; });
          for (int k = 0; k != i % 5; ++k) co_await runq::yield();
          if (handle.stop()) ++stopped;
        }
      },
      {.procs = 2, .until = run_until::all_have_ended});
  EXPECT_EQ(stopped + calls, rounds);
}

// ---- reset() --------------------------------------------------------------------------------------------------------

TEST_F(later, reset_calls_it_again_after_a_call_and_after_stop) {
  runq::run(
      []() -> task<> {
        std::atomic<int> calls{0};
        auto handle = after_func(1h, [&] { ++calls; });
        EXPECT_TRUE(handle.reset(1ms));
        co_await yield_until([&] { return calls == 1; });
        EXPECT_FALSE(handle.reset(1ms));
        co_await yield_until([&] { return calls == 2; });
        EXPECT_FALSE(handle.reset(1h));
        EXPECT_TRUE(handle.stop());
        EXPECT_FALSE(handle.reset(1ms));
        co_await yield_until([&] { return calls == 3; });
      },
      {.procs = 2, .until = run_until::all_have_ended});
}

TEST_F(later, every_reset_puts_a_call_off_or_there_is_one_call_more) {
  constexpr int rounds = slow_build ? 300 : 3000;
  int put_off = 0;
  std::atomic<int> calls{0};
  runq::run(
      [&]() -> task<> {
        auto handle = after_func(0s, [&] { ++calls; });
        for (int i = 0; i != rounds; ++i) {
          if (handle.reset(std::chrono::microseconds(i % 7 * 5))) ++put_off;
          for (int k = 0; k != i % 5; ++k) co_await runq::yield();
        }
        if (handle.stop()) ++put_off;
      },
      {.procs = 2, .until = run_until::all_have_ended});
  EXPECT_EQ(put_off + calls, rounds + 1);
}

TEST_F(later, a_function_may_use_and_destroy_its_own_handle) {
  runq::run(
      []() -> task<> {
        runq::wait_group done;
        done.add(1);
        std::optional<delayed_task> handle;
        int calls = 0;
        handle = after_func(1ms, [&] {
          if (++calls != 5) {
            EXPECT_FALSE(handle->reset(1ms));
            return;
          }
          EXPECT_FALSE(handle->stop());
          handle.reset();
          done.done();
        });
        co_await done.wait();
        EXPECT_EQ(calls, 5);
      },
      {.procs = 1});  // main does not use the handle while the function does
}

// ---- the end of the run ---------------------------------------------------------------------------------------------

TEST_F(later, nothing_is_called_after_the_end_of_the_run) {
  scheduler s({.procs = 2});
  for (int i = 0; i != 20; ++i) {
    s.run([&]() -> task<> {
      std::array<delayed_task, 10> of_main;
      for (auto& handle : of_main) handle = after_func(1h, [] { ADD_FAILURE() << "called an hour too early"; });
      runq::go([]() -> task<> {
        const auto of_other = after_func(1h, [] { ADD_FAILURE() << "called an hour too early"; });
        co_await runq::sleep_for(1h);
      });
      co_await runq::yield();
    });
    EXPECT_EQ(s.stats().timers, 0U);
  }
}

TEST_F(later, a_handle_may_outlive_its_run_and_serve_in_the_next) {
  std::atomic<int> calls{0};
  delayed_task handle;
  delayed_task never_used_again;
  scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    handle = after_func(1h, [&] { ++calls; });
    never_used_again = after_func(1h, [&] { ++calls; });
    co_return;
  });
  EXPECT_FALSE(never_used_again.stop());  // the end of the run has stopped it
  s.run([&]() -> task<> {
    EXPECT_FALSE(handle.reset(1ms));
    co_await yield_until([&] { return calls == 1; });
    EXPECT_FALSE(handle.stop());
    EXPECT_EQ(s.stats().timers, 0U);
  });
}

TEST_F(later, is_for_tasks_and_for_handles_with_a_function) {
  const auto outside = "runq: a function was to be called later, but by no task";
  EXPECT_EQ(sched_test::misuse_of([] { (void)after_func(1ms, [] {}); }), outside);
  const auto empty = "runq: reset() of a delayed_task without a function; after_func() makes one with it";
  EXPECT_EQ(sched_test::misuse_of([] { delayed_task().reset(1ms); }), empty);
}

// ---- by a clock that only the test moves ----------------------------------------------------------------------------

class later_by_clock : public later {
 protected:
  void SetUp() override {
    later::SetUp();
    if (!interposed) GTEST_SKIP() << "the sanitizer replaces these functions itself";
    time_of_test = 1'000'000'000'000;
  }
  void TearDown() override {
    time_of_test = -1;
    later::TearDown();
  }
};

// A busy processor checks its timers at every eighth task, so 32 yields are enough for what is due now.
task<> pass(std::chrono::nanoseconds d) {
  time_of_test += d.count();
  for (int i = 0; i != 32; ++i) co_await runq::yield();
}

TEST_F(later_by_clock, it_is_called_at_its_time) {
  runq::run(
      []() -> task<> {
        int calls = 0;
        const auto handle = after_func(10ms, [&] { ++calls; });
        co_await pass(10ms - 1ns);
        EXPECT_EQ(calls, 0);
        co_await pass(1ns);
        EXPECT_EQ(calls, 1);
        co_await pass(1h);
        EXPECT_EQ(calls, 1);
      },
      {.procs = 1});
}

TEST_F(later_by_clock, reset_counts_from_now_on) {
  runq::run(
      []() -> task<> {
        int calls = 0;
        auto handle = after_func(10ms, [&] { ++calls; });
        for (int i = 0; i != 5; ++i) {
          co_await pass(9ms);
          EXPECT_TRUE(handle.reset(10ms));
        }
        co_await pass(10ms - 1ns);
        EXPECT_EQ(calls, 0);
        co_await pass(1ns);
        EXPECT_EQ(calls, 1);
        EXPECT_FALSE(handle.reset(5ms));
        co_await pass(5ms);
        EXPECT_EQ(calls, 2);
      },
      {.procs = 1});
}

TEST_F(later_by_clock, stop_comes_first_when_the_task_has_not_got_the_time_yet) {
  runq::run(
      []() -> task<> {
        auto handle = after_func(10ms, [] { ADD_FAILURE() << "called after stop()"; });
        // Due, but no machine has fired it: main has kept the processor since the clock was moved.
        time_of_test += 20'000'000;
        EXPECT_TRUE(handle.stop());
        co_await pass(1h);
      },
      {.procs = 1});
}

}  // namespace
