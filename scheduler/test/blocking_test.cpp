// SPDX-License-Identifier: MIT
// Blocking calls: rows S1 to S3, L9, L20, L21, X13 of the scheduler's rules, and L7 for blocking calls.
// Most blocking calls here wait for something that another task does. If a call held up that task, the test would
// hang, and an alarm would end it. No verdict depends on how fast the machine is.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <runq/detail/core.hpp>
#include <unistd.h>

#include "repeats.hpp"
#include "support.hpp"

namespace {

using namespace std::chrono_literals;
using runq::scheduler;
using runq::task;
using sched_test::patience;
using sched_test::slow_build;
using sched_test::wait_for;
using sched_test::wait_until;

class blocking : public sched_test::alarmed {};
using blocking_death = blocking;

// ---- what blocking() returns ----------------------------------------------------------------------------------------

TEST_F(blocking, returns_what_the_function_returns) {
  const pid_t pid = runq::run([]() -> task<pid_t> { co_return co_await runq::blocking([] { return getpid(); }); });
  EXPECT_EQ(pid, getpid());
}

TEST_F(blocking, takes_functions_without_a_result) {
  int calls = 0;
  runq::run([&]() -> task<> { co_await runq::blocking([&] { ++calls; }); });
  EXPECT_EQ(calls, 1);
}

TEST_F(blocking, moves_results_and_functions_that_cannot_be_copied) {
  const int n = runq::run([]() -> task<int> {
    auto argument = std::make_unique<int>(2);
    struct function {
      explicit function(std::unique_ptr<int> n) : a(std::move(n)) {}
      std::unique_ptr<int> operator()() {
        *a *= 3;
        return std::move(a);
      }
      std::unique_ptr<int> a;
    };
    auto tripled = co_await runq::blocking(function(std::move(argument)));
    auto f = [a = std::move(tripled)]() mutable {
      *a *= 7;
      return std::move(a);
    };
    const std::unique_ptr<int> result = co_await runq::blocking(std::ref(f));
    co_return *result;
  });
  EXPECT_EQ(n, 42);
}

TEST_F(blocking, results_need_no_default_constructor) {
  struct only_from_int {
    explicit only_from_int(int v) : value(v) {}
    int value;
  };
  const int n = runq::run([]() -> task<int> {
    const auto result = co_await runq::blocking([] { return only_from_int(5); });
    co_return result.value;
  });
  EXPECT_EQ(n, 5);
}

TEST_F(blocking, throws_what_the_function_throws) {
  runq::run([]() -> task<> {
    std::string caught;
    try {
      co_await runq::blocking([] { throw std::runtime_error("from the call"); });
    } catch (const std::runtime_error& e) {
      caught = e.what();
    }
    EXPECT_EQ(caught, "from the call");
  });
}

TEST_F(blocking, throws_on_another_thread_too) {
  // The call ends only after another machine has taken the caller's processor.
  runq::run(
      []() -> task<> {
        std::atomic<bool> ran{false};
        runq::go([&] { ran = true; });
        bool caught = false;
        try {
          (void)co_await runq::blocking([&]() -> int {
            EXPECT_TRUE(wait_for(ran));
            throw std::runtime_error("late");
          });
        } catch (const std::runtime_error&) {
          caught = true;
        }
        EXPECT_TRUE(caught);
      },
      {.procs = 1});
}

TEST_F(blocking, sections_are_for_tasks_only) {
  EXPECT_THROW({ const runq::blocking_section section; }, runq::misuse);
}

// ---- other tasks run during a call ----------------------------------------------------------------------------------

TEST_F(blocking, S1_a_blocking_call_does_not_hold_up_the_others) {
  scheduler s({.procs = 1});
  bool others_ran = false;
  s.run([&]() -> task<> {
    std::atomic<int> ran{0};
    for (int i = 0; i != 3; ++i) runq::go([&] { ++ran; });
    others_ran = co_await runq::blocking([&] { return wait_until([&] { return ran == 3; }); });
  });
  EXPECT_TRUE(others_ran);
  EXPECT_GE(s.stats().handed_off, 1U);
}

TEST_F(blocking, S1_a_blocking_section_does_not_hold_up_the_others) {
  bool others_ran = false;
  runq::run(
      [&]() -> task<> {
        std::atomic<bool> ran{false};
        runq::go([&] { ran = true; });
        {
          const runq::blocking_section section;
          others_ran = wait_for(ran);
        }
        co_return;
      },
      {.procs = 1});
  EXPECT_TRUE(others_ran);
}

TEST_F(blocking, S1_tasks_that_become_runnable_during_the_call_run) {
  // When the task becomes runnable, the monitor has already taken the processor from the call, and it has no work.
  scheduler s({.procs = 1});
  const auto handle = s.attach();
  std::atomic<bool> called{false};
  std::atomic<bool> ran{false};
  std::jthread outside([&] {
    EXPECT_TRUE(wait_for(called));
    EXPECT_TRUE(wait_until([&] { return s.stats().handed_off == 1; }));
    handle.go([&] { ran = true; });
  });
  s.run([&]() -> task<> {
    co_await runq::blocking([&] {
      called = true;
      EXPECT_TRUE(wait_for(ran));
    });
  });
  EXPECT_TRUE(ran);
}

// ---- S2: how a machine gets a processor after a call ----------------------------------------------------------------

TEST_F(blocking, S2_a_call_that_lost_its_processor_takes_an_idle_one) {
  scheduler s({.procs = 2});
  std::atomic<bool> taken{false};
  std::jthread outside([&] {
    EXPECT_TRUE(wait_until([&] { return s.stats().handed_off == 1 && s.stats().idle_procs == 2; }));
    taken = true;
  });
  s.run([&]() -> task<> { co_await runq::blocking([&] { EXPECT_TRUE(wait_for(taken)); }); });
  const auto n = s.stats();
  EXPECT_EQ(n.calls_kept, 0U);
  EXPECT_EQ(n.calls_moved, 1U);
  EXPECT_EQ(n.calls_queued, 0U);
}

// What the monitor has seen of the time slice in which the call began does not count any more.
TEST_F(blocking, S6_after_a_call_that_lost_its_processor_a_time_slice_begins) {
  scheduler s({.procs = 1});
  s.run([&]() -> task<> {
    const auto slice = [] { return runq::detail::own_processor().slice.current(); };
    const auto before = slice();
    {
      const runq::blocking_section call;
      EXPECT_TRUE(wait_until([&] { return s.stats().handed_off == 1 && s.stats().idle_procs == 1; }));
    }
    EXPECT_EQ(s.stats().calls_moved, 1U);
    EXPECT_EQ(slice(), before + 1);
    co_return;
  });
}

TEST_F(blocking, S2_the_task_of_a_call_that_finds_no_processor_is_queued) {
  scheduler s({.procs = 1});
  s.run([&]() -> task<> {
    std::atomic<bool> ran{false};
    runq::go([&] {
      ran = true;
      EXPECT_TRUE(wait_until([&] {
        const runq::statistics n = s.stats();
        return n.calls_queued == 1 && n.global_queue == 1;
      }));
      const auto its_thread_sleeps = [&] { return s.trace().find(" idlethreads=1 ") != std::string::npos; };
      EXPECT_TRUE(wait_until(its_thread_sleeps)) << s.trace();
    });
    co_await runq::blocking([&] { EXPECT_TRUE(wait_for(ran)); });
  });
  const auto n = s.stats();
  EXPECT_EQ(n.calls_kept, 0U);
  EXPECT_EQ(n.calls_moved, 0U);
  EXPECT_EQ(n.calls_queued, 1U);
}

TEST_F(blocking, S2_calls_on_one_processor_overlap) {
  // Each call lasts until all eight are in progress.
  scheduler s({.procs = 1});
  s.run([&]() -> task<> {
    for (int round = 0; round != 20; ++round) {
      std::atomic<int> inside{0};
      runq::wait_group done;
      done.add(8);
      for (int i = 0; i != 8; ++i) {
        runq::go([&]() -> task<> {
          co_await runq::blocking([&] {
            ++inside;
            EXPECT_TRUE(wait_until([&] { return inside == 8; }));
          });
          done.done();
        });
      }
      co_await done.wait();
    }
  });
  EXPECT_EQ(s.stats().blocking_calls, 160U);
}

/// How long it takes to await what `call()` returns, `calls` times in a row.
template <class Call>
task<std::chrono::nanoseconds> time_of(int calls, Call call) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i != calls; ++i) co_await call();
  co_return std::chrono::steady_clock::now() - begin;
}

struct bare_call {
  [[nodiscard]] bool await_ready() const noexcept { return getpid() != 0; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  void await_resume() const noexcept {}
};

// A short call keeps its processor, unless its thread loses its CPU during the call. This test counts the calls and
// prints what one costs. slice_test tests when the monitor considers a call long.
TEST_F(blocking, S3_a_million_short_calls_are_counted_once_each) {
  constexpr int calls = slow_build ? 100'000 : 1'000'000;
  auto over_the_bare_call = std::chrono::nanoseconds::max();
  for (const unsigned procs : {1U, 2U}) {
    scheduler s({.procs = procs});
    s.run([&]() -> task<> {
      const auto bare = co_await time_of(calls, [] { return bare_call(); });
      const auto through = co_await time_of(calls, [] { return runq::blocking([] { (void)getpid(); }); });
      over_the_bare_call = std::min(over_the_bare_call, (through - bare) / calls);
    });
    const auto n = s.stats();
    EXPECT_EQ(n.blocking_calls, std::uint64_t{calls});
    EXPECT_EQ(n.calls_kept + n.calls_moved + n.calls_queued, std::uint64_t{calls});
    EXPECT_LE(n.machines_started, procs + 1U + n.handed_off);
  }
  std::printf("%lld ns over the bare call\n", static_cast<long long>(over_the_bare_call.count()));
}

// ---- sections -------------------------------------------------------------------------------------------------------

TEST_F(blocking, a_section_waits_for_a_processor_when_all_are_busy) {
  // The other task only yields, so no processor is idle: the section's machine has to ask for one.
  scheduler s({.procs = 1});
  bool came_back = false;
  s.run([&]() -> task<> {
    std::atomic<bool> ran{false};
    std::atomic<bool> back{false};
    runq::wait_group done;
    done.add(1);
    runq::go([&]() -> task<> {
      ran = true;
      const auto end = runq::clock::now() + patience;
      while (!back && runq::clock::now() < end) co_await runq::yield();
      came_back = back;
      done.done();
    });
    {
      const runq::blocking_section section;
      EXPECT_TRUE(wait_for(ran));
    }
    back = true;
    EXPECT_TRUE(runq::this_task::running());
    EXPECT_EQ(runq::this_task::id(), 1U);
    co_await done.wait();
  });
  EXPECT_TRUE(came_back);
  const auto n = s.stats();
  EXPECT_EQ(n.calls_moved, 1U);
  EXPECT_EQ(n.calls_queued, 0U);
}

TEST_F(blocking, many_sections_wait_for_the_same_processor) {
  constexpr int tasks = 16;
  scheduler s({.procs = 1});
  s.run([&]() -> task<> {
    std::atomic<int> inside{0};
    std::atomic<int> user_code{0};
    runq::wait_group done;
    done.add(tasks);
    for (int i = 0; i != tasks; ++i) {
      runq::go([&] {
        {
          const runq::blocking_section section;
          ++inside;
          EXPECT_TRUE(wait_until([&] { return inside == tasks; }));
        }
        EXPECT_EQ(++user_code, 1);  // one processor: one task at a time
        std::this_thread::yield();
        --user_code;
        done.done();
      });
    }
    co_await done.wait();
  });
  const auto n = s.stats();
  EXPECT_EQ(n.blocking_calls, static_cast<std::uint64_t>(tasks));
  EXPECT_EQ(n.calls_kept + n.calls_moved, static_cast<std::uint64_t>(tasks));
}

// ---- threads --------------------------------------------------------------------------------------------------------

TEST_F(blocking, L21_sequential_calls_use_the_same_threads) {
  scheduler s({.procs = 2, .idle_thread_life = 1h});  // however slow the test is
  s.run([]() -> task<> {
    for (int i = 0; i != 1000; ++i) co_await runq::blocking([] { std::this_thread::sleep_for(100us); });
  });
  EXPECT_LE(s.stats().machines_started, 2U + 3U);
}

TEST_F(blocking, L21_calls_that_lose_their_processor_use_the_same_threads) {
  constexpr int calls = slow_build ? 200 : 1000;
  scheduler s({.procs = 1, .idle_thread_life = 1h});  // however slow the test is
  s.run([]() -> task<> {
    for (int i = 0; i != calls; ++i) {
      std::atomic<bool> ran{false};
      runq::go([&] { ran = true; });
      co_await runq::blocking([&] { EXPECT_TRUE(wait_for(ran)); });
    }
  });
  EXPECT_GE(s.stats().handed_off, static_cast<std::uint64_t>(calls));
  EXPECT_LE(s.stats().machines_started, 1U + 3U);
}

TEST_F(blocking, L20_L9_all_tasks_may_block_at_once_and_others_still_run) {
  constexpr int tasks = 20;
  scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    std::atomic<int> blocked{0};
    std::atomic<bool> released{false};
    runq::wait_group done;
    done.add(tasks);
    for (int i = 0; i != tasks; ++i) {
      runq::go([&]() -> task<> {
        co_await runq::blocking([&] {
          ++blocked;
          EXPECT_TRUE(wait_for(released));
        });
        done.done();
      });
    }
    const auto end = runq::clock::now() + patience;
    while (blocked != tasks && runq::clock::now() < end) co_await runq::yield();
    EXPECT_EQ(blocked, tasks);
    // Both processors still run tasks while all these threads are blocked.
    std::atomic<int> running{0};
    runq::wait_group both;
    both.add(2);
    for (int i = 0; i != 2; ++i) {
      runq::go([&] {
        ++running;
        EXPECT_TRUE(wait_until([&] { return running == 2; }));
        both.done();
      });
    }
    co_await both.wait();
    // L9: one thread per blocked task and one per processor (Go: 22). One more thread may just be leaving a call.
    EXPECT_GE(s.stats().machines, static_cast<std::uint64_t>(tasks) + 2U);
    EXPECT_LE(s.stats().machines, static_cast<std::uint64_t>(tasks) + 2U + 1U);
    released = true;
    co_await done.wait();
  });
}

TEST_F(blocking, the_number_of_processors_limits_tasks_and_not_calls) {
  constexpr int tasks = 12;
  constexpr unsigned procs = 2;
  scheduler s({.procs = procs});
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  s.run([&]() -> task<> {
    runq::wait_group done;
    done.add(tasks);
    for (int i = 0; i != tasks; ++i) {
      runq::go([&]() -> task<> {
        for (int round = 0; round != 20; ++round) {
          co_await runq::blocking([] { std::this_thread::sleep_for(300us); });
          const int now = ++running;
          int before = most;
          while (before < now && !most.compare_exchange_weak(before, now)) {
          }
          std::this_thread::yield();  // only once: on a loaded machine each yield can cost a time slice
          --running;
        }
        done.done();
      });
    }
    co_await done.wait();
  });
  EXPECT_LE(most, static_cast<int>(procs));
}

TEST_F(blocking, run_ends_when_the_calls_in_progress_have_ended) {
  std::atomic<bool> ended{false};
  runq::run(
      [&]() -> task<> {
        std::atomic<bool> begun{false};
        auto call = [&]() -> task<> {
          co_await runq::blocking([&] {
            begun = true;
            std::this_thread::sleep_for(20ms);
            ended = true;
          });
        };
        runq::go(call);
        while (!begun) co_await runq::yield();
      },
      {.procs = 2});
  EXPECT_TRUE(ended);
}

TEST_F(blocking, run_ends_although_sections_wait_for_a_processor) {
  for (int i = 0; i != sched_test::repeats(20); ++i) {
    std::atomic<int> ended{0};
    runq::run(
        [&]() -> task<> {
          std::atomic<int> begun{0};
          for (int k = 0; k != 4; ++k) {
            runq::go([&] {
              const runq::blocking_section section;
              ++begun;
              std::this_thread::sleep_for(1ms);
              ++ended;
            });
          }
          while (begun != 4) co_await runq::yield();
        },
        {.procs = 1});
    EXPECT_EQ(ended, 4);
  }
}

// The next run has the only processor to itself: no machine of the previous run gets it.
TEST_F(blocking, L2_a_run_after_one_that_ended_while_sections_waited) {
  scheduler s({.procs = 1});
  for (int i = 0; i != sched_test::repeats(10); ++i) {
    std::atomic<int> ended{0};
    s.run([&]() -> task<> {
      std::atomic<int> begun{0};
      std::atomic<int> ending{0};
      std::atomic<bool> all_begun{false};
      for (int k = 0; k != 3; ++k) {
        runq::go([&] {
          {
            const runq::blocking_section section;
            ++begun;
            EXPECT_TRUE(wait_for(all_begun));
            ++ending;
          }
          ++ended;
        });
      }
      while (begun != 3) co_await runq::yield();
      // Main holds the only processor until it ends, so the machines whose sections have ended wait for it.
      all_begun = true;
      EXPECT_TRUE(wait_until([&] { return ending == 3; }));
      std::this_thread::sleep_for(1ms);
    });
    EXPECT_EQ(ended, 3);
    int ran = 0;
    s.run([&]() -> task<> {
      for (int k = 0; k != 3; ++k) {
        co_await runq::yield();
        ++ran;
      }
    });
    EXPECT_EQ(ran, 3);
  }
}

// ---- more calls than there may be, and threads that nobody needs any more -------------------------------------------

// As many tasks as are wanted, each in a call until release().
class held_calls {
 public:
  void start(int tasks) {
    done_.add(tasks);
    for (int i = 0; i != tasks; ++i) runq::go(call());
  }
  [[nodiscard]] int in_progress() const { return now_; }
  [[nodiscard]] int most() const { return most_; }
  void release() { released_ = true; }
  [[nodiscard]] auto all_done() { return done_.wait(); }

 private:
  task<> call() {
    co_await runq::blocking([this] {
      const int now = ++now_;
      int before = most_;
      while (before < now && !most_.compare_exchange_weak(before, now)) {
      }
      while (!released_) std::this_thread::sleep_for(100us);
      --now_;
    });
    done_.done();
  }
  std::atomic<int> now_{0};
  std::atomic<int> most_{0};
  std::atomic<bool> released_{false};
  runq::wait_group done_;
};

TEST_F(blocking, L21_more_calls_than_max_blocking_calls_wait_for_their_turn) {
  for (const unsigned procs : {1U, 2U, 4U}) {
    held_calls calls;
    runq::run(
        [&]() -> task<> {
          calls.start(20);
          // Other tasks run meanwhile, this one for instance.
          while (calls.in_progress() < 3) co_await runq::yield();
          calls.release();
          co_await calls.all_done();
        },
        {.procs = procs, .max_blocking_calls = 3});
    EXPECT_LE(calls.most(), 3 + static_cast<int>(procs));
  }
}

// One processor, one call at a time: the first call has lost its processor, and all others wait for their turn.
class one_at_a_time {
 public:
  explicit one_at_a_time(int tasks) : tasks_(tasks) {}
  task<> begin(std::stop_token stop = {}) {
    done_.add(1 + tasks_);
    runq::go([this]() -> task<> {
      co_await runq::blocking([this] {
        begun_ = true;
        while (!released_) std::this_thread::sleep_for(100us);
      });
      done_.done();
    });
    co_await sched_test::yield_until([this] { return begun_.load(); });
    for (int i = 0; i != tasks_; ++i) runq::go(wait_for_turn(i, stop));
    co_await sched_test::yield_until([this] { return asked.size() == static_cast<std::size_t>(tasks_); });
  }
  void release() { released_ = true; }
  [[nodiscard]] auto all_done() { return done_.wait(); }
  sched_test::log_of<int> asked;
  sched_test::log_of<int> called;
  std::atomic<int> cancelled{0};

 private:
  task<> wait_for_turn(int i, std::stop_token stop) {
    asked.note(i);
    try {
      co_await runq::blocking([this, i] { called.note(i); }, stop);
    } catch (const runq::cancelled&) {
      ++cancelled;
    }
    done_.done();
  }
  int tasks_;
  std::atomic<bool> begun_{false};
  std::atomic<bool> released_{false};
  runq::wait_group done_;
};

TEST_F(blocking, L21_first_come_first_served) {
  one_at_a_time calls(6);
  runq::run(
      [&]() -> task<> {
        co_await calls.begin();
        EXPECT_EQ(calls.called.size(), 0U);
        calls.release();
        co_await calls.all_done();
      },
      {.procs = 1, .max_blocking_calls = 1});
  EXPECT_EQ(calls.called.all(), calls.asked.all());
}

TEST_F(blocking, SC4_a_stop_request_ends_the_wait_for_a_turn) {
  one_at_a_time calls(3);
  one_at_a_time later(2);
  std::stop_source source;
  runq::run(
      [&]() -> task<> {
        co_await calls.begin(source.get_token());
        source.request_stop();
        co_await sched_test::yield_until([&] { return calls.cancelled == 3; });
        calls.release();
        co_await calls.all_done();
        // No turn was lost.
        co_await later.begin();
        later.release();
        co_await later.all_done();
      },
      {.procs = 1, .max_blocking_calls = 1});
  EXPECT_EQ(calls.called.size(), 0U);
  EXPECT_EQ(later.called.size(), 2U);
}

TEST_F(blocking, L21_tasks_that_wait_for_their_turn_when_main_ends_lose_none) {
  scheduler s({.procs = 1, .max_blocking_calls = 1});
  for (int run = 0; run != 3; ++run) {
    one_at_a_time calls(3);
    s.run([&]() -> task<> {
      co_await calls.begin();
      calls.release();  // run() waits for the call
    });
  }
}

TEST_F(blocking, L21_threads_that_nobody_needs_any_more_end_and_others_begin_later) {
  const std::size_t before = sched_test::threads_of_this_process();
  runq::run(
      [&]() -> task<> {
        for (int round = 0; round != 3; ++round) {
          held_calls calls;
          calls.start(30);
          while (calls.in_progress() != 30) co_await runq::yield();
          EXPECT_GE(runq::this_scheduler().stats().machines, 30U);
          calls.release();
          co_await calls.all_done();
          // One that runs this task, one idle one that is kept, one in the poller, and the monitor.
          while (sched_test::threads_of_this_process() > before + 4) co_await runq::yield();
          while (runq::this_scheduler().stats().machines > 3) co_await runq::yield();
        }
      },
      {.procs = 1, .idle_thread_life = std::chrono::milliseconds(1)});
}

TEST_F(blocking, L21_options_out_of_range) {
  EXPECT_EQ(sched_test::misuse_of([] { scheduler s({.max_blocking_calls = 0}); }),
            "runq: options::max_blocking_calls must be at least 1");
  EXPECT_EQ(sched_test::misuse_of([] { scheduler s({.idle_thread_life = {}}); }),
            "runq: options::idle_thread_life must be more than 0");
  EXPECT_EQ(sched_test::misuse_of([] { scheduler s({.latency_period = runq::options::max_latency_period + 1}); }),
            "runq: options::latency_period must be at most options::max_latency_period, 256");
  const scheduler with_the_longest_period({.latency_period = runq::options::max_latency_period});
  EXPECT_EQ(sched_test::misuse_of([] { scheduler s({.procs = runq::options::max_procs + 1}); }),
            "runq: options::procs must be at most options::max_procs, 1024");
  // The longest time that the option can hold means for ever.
  held_calls calls;
  runq::run(
      [&]() -> task<> {
        calls.start(5);
        while (calls.in_progress() != 5) co_await runq::yield();
        calls.release();
        co_await calls.all_done();
      },
      {.procs = 1, .idle_thread_life = std::chrono::nanoseconds::max()});
}

// ---- limits and deadlocks -------------------------------------------------------------------------------------------

TEST_F(blocking_death, X13_the_limit_of_threads_ends_the_process) {
  GTEST_FLAG_SET(death_test_style, sched_test::death_test_style);
  const auto too_many = [] {
    runq::run(
        []() -> task<> {
          for (int i = 0; i != 10; ++i) {
            runq::go([]() -> task<> { co_await runq::blocking([] { std::this_thread::sleep_for(60s); }); });
          }
          co_await runq::blocking([] { std::this_thread::sleep_for(60s); });
        },
        {.procs = 1, .max_threads = 4});
  };
  EXPECT_EXIT(too_many(), testing::ExitedWithCode(2),
              "^runtime: program exceeds 4-thread limit\nfatal error: thread exhaustion\n");
}

// Each call in progress has a thread, and one more runs the other tasks.
void run_beside_calls(int n, unsigned max_threads) {
  held_calls calls;
  runq::run(
      [&]() -> task<> {
        calls.start(n);
        while (calls.in_progress() != n) co_await runq::yield();
        for (int i = 0; i != 100; ++i) co_await runq::yield();
        calls.release();
        co_await calls.all_done();
      },
      {.procs = 1, .max_threads = max_threads});
}

TEST_F(blocking_death, X13_as_many_threads_as_the_limit_says_and_no_more) {
  run_beside_calls(3, 4);
  RUNQ_EXPECT_STATUS_2(
      {
        run_beside_calls(4, 4);
        std::_Exit(0);
      },
      "program exceeds 4-thread limit");
}

TEST_F(blocking, L7_a_task_in_a_blocking_call_is_no_deadlock) {
  for (const unsigned procs : {1U, 2U}) {
    scheduler s({.procs = procs});
    // The call ends only after the monitor has taken its processor and all processors are idle.
    std::atomic<bool> all_idle{false};
    std::jthread outside([&] {
      EXPECT_TRUE(wait_until([&] { return s.stats().handed_off >= 1 && s.stats().idle_procs == procs; }));
      std::this_thread::sleep_for(5ms);
      all_idle = true;
    });
    const int got = s.run([&]() -> task<int> {
      runq::channel<int> result;
      runq::go([&]() -> task<> {
        co_await runq::blocking([&] { EXPECT_TRUE(wait_for(all_idle)); });
        co_await result.send(7);
      });
      const auto n = co_await result.receive();
      co_return n.value_or(0);
    });
    EXPECT_EQ(got, 7);
  }
}

TEST_F(blocking_death, L7_after_the_call_a_deadlock_is_reported) {
  GTEST_FLAG_SET(death_test_style, sched_test::death_test_style);
  const auto deadlock = [](unsigned procs) {
    runq::run(
        []() -> task<> {
          runq::channel<int> result;
          runq::go([&]() -> task<> {
            co_await runq::blocking([] { std::this_thread::sleep_for(50ms); });
            std::fputs("after the call\n", stderr);
          });
          (void)co_await result.receive();
        },
        {.procs = procs});
  };
  const char* const report =
      "^after the call\nfatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 \\[chan receive\\]:\n";
  EXPECT_EXIT(deadlock(1), testing::ExitedWithCode(2), report);
  EXPECT_EXIT(deadlock(2), testing::ExitedWithCode(2), report);
}

}  // namespace
