// SPDX-License-Identifier: MIT
// What depends on time: rows L8 and S2 of the scheduler's rules; timers, tickers and deadlines. The tests control the
// system: only the test moves the clock, the monitor can stand still, and the kernel can lack epoll_pwait2(2). For this
// the program replaces clock_gettime(), syscall() and epoll_wait(). They call the C library's functions unless a test
// asks for something else.
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <linux/futex.h>
#include <runq/detail/core.hpp>
#include <runq/detail/poller.hpp>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock_of_test.hpp"
#include "net_support.hpp"
#include "support.hpp"

namespace {

std::atomic<bool> monitor_stands_still{false};
std::atomic<bool> counts_ms_only{false};  // the kernel has no epoll_pwait2(2), so timeouts are in ms
std::atomic<int> last_timeout{-2};        // the last timeout of epoll_wait(2) with counts_ms_only, in ms

}  // namespace

#if RUNQ_TEST_MAY_INTERPOSE

using sched_test::next_one;

extern "C" {

long syscall(long number, ...) noexcept {
  static auto* const real = next_one<long(long, ...)>("syscall");
  std::va_list list;
  va_start(list, number);
  long argument[6];
  for (long& a : argument) a = va_arg(list, long);
  va_end(list);
#if defined(SYS_epoll_pwait2)
  if (number == SYS_epoll_pwait2 && counts_ms_only) {
    errno = ENOSYS;
    return -1;
  }
#endif
  // Only the monitor waits for a futex with a timeout.
  if (number == SYS_futex && argument[3] != 0 && (argument[1] & FUTEX_CMD_MASK) == FUTEX_WAIT) {
    while (monitor_stands_still) {
      const timespec moment{0, 100'000};
      (void)nanosleep(&moment, nullptr);
    }
  }
  return real(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}

int epoll_wait(int epoll, epoll_event* events, int most, int timeout) {
  static auto* const real = next_one<int(int, epoll_event*, int, int)>("epoll_wait");
  if (!counts_ms_only) return real(epoll, events, most, timeout);
  last_timeout = timeout;
  return 0;
}

}  // extern "C"

#endif

namespace {

using namespace std::chrono_literals;
using runq::task;
using runq::detail::instant;
using sched_test::hold_until;
using sched_test::interposed;
using sched_test::time_of_test;
using sched_test::yield_until;

class clocks : public sched_test::alarmed {
 protected:
  void SetUp() override {
    alarmed::SetUp();
    if (!interposed) GTEST_SKIP() << "the sanitizer replaces these functions itself";
  }
  void TearDown() override {
    time_of_test = -1;
    monitor_stands_still = false;
    counts_ms_only = false;
    alarmed::TearDown();
  }
};

constexpr instant some_time = 1'000'000'000'000;
constexpr instant ms = 1'000'000;

// Moves the clock ms by ms, and lets what is due happen after each ms. A busy processor checks its timers at every
// eighth task, so 32 yields are enough.
task<> pass(instant time) {
  for (; time > 0; time -= ms) {
    time_of_test += ms;
    for (int i = 0; i != 32; ++i) co_await runq::yield();
  }
}

// ---- sleeping -------------------------------------------------------------------------------------------------------

TEST_F(clocks, sleepers_wake_in_the_order_of_time) {
  std::vector<int> log;
  time_of_test = some_time;
  runq::run(
      [&]() -> task<> {
        const auto begin = runq::clock::now();
        for (const int n : {4, 1, 6, 3, 2, 5}) {
          runq::go([&, n]() -> task<> {
            co_await runq::sleep_until(begin + n * 5ms);
            EXPECT_EQ(runq::clock::now(), begin + n * 5ms);
            log.push_back(n);
          });
        }
        co_await runq::yield();
        co_await pass(30 * ms);
      },
      {.procs = 1});
  EXPECT_EQ(log, (std::vector<int>{1, 2, 3, 4, 5, 6}));
}

TEST_F(clocks, L8_numbers_and_letters) {
  // 5 numbers, one every 100 ms; 5 letters, one every 40 ms; main sleeps 1 s.
  std::string output;
  time_of_test = some_time;
  runq::run(
      [&]() -> task<> {
        runq::mutex mutex;
        auto print = [&](std::string text) -> task<> {
          const auto lock = co_await mutex.scoped_lock();
          output += text + " ";
        };
        auto numbers = [&]() -> task<> {
          for (int i = 1; i <= 5; ++i) {
            co_await runq::sleep_for(100ms);
            co_await print(std::to_string(i));
          }
        };
        auto letters = [&]() -> task<> {
          for (char c = 'a'; c <= 'e'; ++c) {
            co_await runq::sleep_for(40ms);
            co_await print(std::string(1, c));
          }
        };
        runq::go(numbers);
        runq::go(letters);
        runq::go([]() -> task<> { co_await pass(2000 * ms); });
        co_await runq::sleep_for(1s);
        output += "main terminated";
      },
      {.procs = 1});
  EXPECT_EQ(time_of_test, some_time + 1000 * ms);
  // 2 and e are both due at 200 ms, so either may come first.
  EXPECT_THAT(output, testing::AnyOf("a b 1 c d e 2 3 4 5 main terminated", "a b 1 c d 2 e 3 4 5 main terminated"));
}

// ---- blocking calls -------------------------------------------------------------------------------------------------

// The monitor takes a processor only from a call that it sees twice. Here it stands still, so it sees the call at most
// once.
TEST_F(clocks, S2_a_short_call_keeps_its_processor) {
  runq::scheduler s({.procs = 1});
  s.run([]() -> task<> {
    monitor_stands_still = true;
    (void)co_await runq::blocking([] { return getppid(); });
    monitor_stands_still = false;
  });
  const auto n = s.stats();
  EXPECT_EQ(n.blocking_calls, 1U);
  EXPECT_EQ(n.calls_kept, 1U);
  EXPECT_EQ(n.calls_moved + n.calls_queued, 0U);
}

// ---- waits that are measured ----------------------------------------------------------------------------------------

TEST_F(clocks, X15_waits_that_the_end_of_main_cut_short_are_not_counted_in_the_next_run) {
  time_of_test = some_time;
  runq::scheduler s({.procs = 1, .latency_period = 64});
  s.run([] {
    for (int i = 0; i != 200; ++i) runq::go([] {});
  });
  time_of_test += 1100 * ms;
  s.run([]() -> task<> {
    runq::wait_group group;
    group.add(200);
    for (int i = 0; i != 200; ++i) runq::go([&] { group.done(); });
    co_await group.wait();
  });
  const auto counts = s.stats().ready_to_run.counts;
  const auto from = runq::latency_histogram::bucket_of(1074ms);
  EXPECT_NE(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}), 0U);
  EXPECT_EQ(std::accumulate(counts.begin() + static_cast<std::ptrdiff_t>(from), counts.end(), std::uint64_t{0}), 0U);
}

// ---- deadlines of streams -------------------------------------------------------------------------------------------

TEST_F(clocks, a_deadline_can_be_put_off_while_somebody_waits) {
  time_of_test = some_time;
  runq::scheduler s({.procs = 1});
  s.run([&]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    std::string got;
    runq::wait_group done;
    done.add(1);
    a.set_read_deadline(runq::clock::now() + 20ms);
    runq::go([&, &a = a]() -> task<> {
      got = co_await sched_test::read_text(a, 1);
      done.done();
    });
    co_await yield_until([&] { return s.dump().find("[IO wait]") != std::string::npos; });
    a.set_read_deadline(runq::clock::now() + 1h);
    co_await pass(30 * ms);
    co_await sched_test::write_text(b, "x");
    co_await done.wait();
    EXPECT_EQ(got, "x");
  });
}

// ---- tickers --------------------------------------------------------------------------------------------------------

// Lets the processor check its timers, which it does at every eighth task, and returns whether a tick has come.
task<bool> ticks(runq::ticker& of) {
  for (int i = 0; i != 32; ++i) co_await runq::yield();
  std::optional<runq::clock::time_point> tick;
  co_return of.channel().try_receive(tick) == runq::channel_result::done;
}

TEST_F(clocks, a_ticker_that_ticks_late_keeps_its_rhythm) {
  constexpr instant begin = 1'000'000'000'000;
  constexpr instant period = 10'000'000;
  runq::run(
      [&]() -> task<> {
        time_of_test = begin;
        runq::ticker ticker{std::chrono::nanoseconds{period}};
        // The n-th tick is due after n periods. Each tick is delivered later than the one before: the last ones by most
        // of a period.
        for (int n = 1; n != 20; ++n) {
          const instant due = begin + n * period;
          time_of_test = due - 1;
          EXPECT_FALSE(co_await ticks(ticker)) << "tick " << n << " came too early";
          time_of_test = due + n * period / 21;
          EXPECT_TRUE(co_await ticks(ticker)) << "tick " << n << " did not come";
        }
        // All ticks that were missed arrive as one.
        time_of_test = begin + 25 * period + 5;
        EXPECT_TRUE(co_await ticks(ticker));
        EXPECT_FALSE(co_await ticks(ticker));
        time_of_test = begin + 26 * period;
        EXPECT_TRUE(co_await ticks(ticker)) << "the rhythm has drifted";
        ticker.stop();
        time_of_test = -1;
      },
      {.procs = 1});
}

// ---- timers without the monitor: it would hide that a machine forgets a timer ---------------------------------------

TEST_F(clocks, X5_a_processor_that_always_has_tasks_fires_its_timers_without_the_monitor) {
  runq::run(
      []() -> task<> {
        monitor_stands_still = true;
        std::atomic<bool> woken{false};
        runq::go([&]() -> task<> {
          co_await runq::sleep_for(1ms);
          woken = true;
        });
        co_await yield_until([&] { return woken.load(); });
        monitor_stands_still = false;
      },
      {.procs = 1});
}

TEST_F(clocks, X4_an_idle_machine_fires_timers_without_the_monitor) {
  runq::run(
      []() -> task<> {
        monitor_stands_still = true;
        for (int i = 0; i != 5; ++i) co_await runq::sleep_for(1ms);
        monitor_stands_still = false;
      },
      {.procs = 1});
}

TEST_F(clocks, X5_another_machine_fires_the_timers_of_a_busy_processor_without_the_monitor) {
  runq::run(
      []() -> task<> {
        monitor_stands_still = true;
        std::atomic<bool> woken{false};
        runq::go([&]() -> task<> {
          co_await runq::sleep_for(1ms);
          woken = true;
        });
        hold_until([&] { return woken.load(); }, "the timer");
        monitor_stands_still = false;
        co_return;
      },
      {.procs = 2});
}

// The other machine sleeps in the poller when the busy task starts what has a time: only the start can tell it when to
// wake.
TEST_F(clocks, X4_what_a_busy_task_starts_wakes_the_machine_in_the_poller_without_the_monitor) {
  runq::scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    // clang++ 14 captures no structured bindings.
    auto ends = runq::net::pipe();
    auto& from = ends.first;
    runq::timer ticks(1h);
    for (const bool by_deadline : {false, true}) {
      for (int i = 0; i != 5; ++i) {
        std::atomic<bool> woken{false};
        runq::go([&]() -> task<> {
          if (by_deadline) {
            (void)co_await sched_test::error_of_read(from);
          } else {
            (void)co_await ticks.channel().receive();
          }
          woken = true;
        });
        from.set_read_deadline(runq::clock::time_point::max());
        co_await runq::sleep_for(1ms);  // now the task waits, or is about to
        monitor_stands_still = true;
        hold_until([&] { return s.stats().idle_procs == 1; }, "the other machine has nothing to do");
        std::this_thread::sleep_for(20ms);  // most often it sleeps now, and the monitor's last nap is over
        if (by_deadline) {
          from.set_read_deadline(runq::clock::now() + 1ms);
        } else {
          (void)ticks.reset(1ms);
        }
        hold_until([&] { return woken.load(); }, "the task is woken");
        monitor_stands_still = false;
      }
    }
  });
}

// There was no timer yet, so the other machine sleeps outside the poller when the busy task starts one.
TEST_F(clocks, X4_the_first_timer_of_a_busy_task_wakes_a_machine_to_wait_for_it_without_the_monitor) {
  runq::scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    for (int i = 0; i != 5; ++i) {
      runq::timer first;
      std::atomic<bool> woken{false};
      runq::go([&]() -> task<> {
        (void)co_await first.channel().receive();
        woken = true;
      });
      for (int k = 0; k != 3; ++k) co_await runq::yield();
      monitor_stands_still = true;
      hold_until([&] { return s.stats().idle_procs == 1; }, "the other machine has nothing to do");
      std::this_thread::sleep_for(20ms);  // most often it sleeps now, and the monitor's last nap is over
      first.start(1ms);
      hold_until([&] { return woken.load(); }, "the task is woken");
      monitor_stands_still = false;
    }
  });
}

// Both machines are idle: one sleeps in the poller, until a timer that is an hour away; the other one had the task.
TEST_F(clocks, X4_a_sleep_that_begins_wakes_the_machine_in_the_poller_without_the_monitor) {
  runq::scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    const runq::timer in_an_hour(1h);
    const std::stop_source source;
    for (const bool stoppable : {false, true}) {
      for (int i = 0; i != 5; ++i) {
        monitor_stands_still = true;
        hold_until([&] { return s.stats().idle_procs == 1; }, "the other machine has nothing to do");
        std::this_thread::sleep_for(20ms);  // most often it sleeps now, and the monitor's last nap is over
        if (stoppable) {
          co_await runq::sleep_for(1ms, source.get_token());
        } else {
          co_await runq::sleep_for(1ms);
        }
        monitor_stands_still = false;
      }
    }
  });
}

// ---- a kernel that counts in ms -------------------------------------------------------------------------------------

// The monitor stands still, and main yields all the time. The reader must still get its byte: the machine polls at
// every 61st dispatch at the latest.
/// How often a task yields until another one has read what is ready. Nothing if another machine was in the poller,
/// which then wakes the reader, whenever the system lets it run.
std::optional<int> turns_until_read() {
  std::optional<int> result;
  runq::run(
      [&]() -> task<> {
        // clang++ 14 captures no structured bindings.
        auto ends = runq::net::pipe();
        auto& at_reader = ends.first;
        auto& at_writer = ends.second;
        bool answered = false;
        runq::go([&]() -> task<> {
          std::array<std::byte, 1> one{};
          (void)co_await at_reader.read(one);
          answered = true;
        });
        co_await runq::yield();  // now the reader waits
        monitor_stands_still = true;
        time_of_test = some_time;
        const runq::detail::core& home = runq::detail::this_machine()->home;
        bool nobody_polled = home.nobody_polls();
        const std::array<std::byte, 1> one{};
        (void)co_await at_writer.write(one);
        int turns = 0;
        while (!answered && turns != 1'000) {
          co_await runq::yield();
          nobody_polled = nobody_polled && home.nobody_polls();
          ++turns;
        }
        if (nobody_polled) result = turns;
        monitor_stands_still = false;
      },
      {.procs = 1});
  return result;
}

TEST_F(clocks, S15_a_task_that_yields_all_the_time_does_not_keep_the_network_waiting) {
  constexpr int most = 100;
  std::optional<int> turns;
  for (int i = 0; i != most && !turns; ++i) turns = turns_until_read();
  ASSERT_TRUE(turns) << "in each run another machine was in the poller";
  EXPECT_LE(*turns, 62);
}

TEST_F(clocks, deadlines_are_rounded_up_to_whole_ms_where_the_kernel_counts_no_ns) {
  counts_ms_only = true;
  runq::detail::poller poller;
  const auto ms_of = [&](instant timeout) {
    last_timeout = -2;
    (void)poller.poll(timeout);
    return last_timeout.load();
  };
  EXPECT_EQ(ms_of(1), 1) << "it would not sleep, and look again and again until the timer is due";
  EXPECT_EQ(ms_of(999'999), 1);
  EXPECT_EQ(ms_of(1'000'000), 1);
  EXPECT_EQ(ms_of(1'000'001), 2) << "it would wake before the timer is due";
  EXPECT_EQ(ms_of(10'000'000'000), 10'000);
  EXPECT_EQ(ms_of(0), 0);
  EXPECT_EQ(ms_of(runq::detail::never), -1);
  EXPECT_EQ(ms_of(runq::detail::end_of_time), 1'000'000'000) << "more ms than an int holds";
}

}  // namespace
