// SPDX-License-Identifier: MIT
// Timers, tickers and deadlines where the system gives less than usual: a clock that only the test moves, a monitor
// that stands still, a kernel without epoll_pwait2(2). This program has its own clock_gettime(), syscall() and
// epoll_wait(), which pass calls on until a test wants otherwise.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdint>
#include <ctime>
#include <optional>

#include <linux/futex.h>
#include <runq/detail/poller.hpp>
#include <sys/epoll.h>
#include <sys/syscall.h>

#include "clock_of_test.hpp"
#include "support.hpp"

namespace {

std::atomic<bool> monitor_stands_still{false};
std::atomic<bool> counts_ms_only{false};  // the kernel's epoll
std::atomic<int> last_timeout{-2};        // of epoll_wait(2), in ms, while it counts_ms_only

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
    if (!interposed) GTEST_SKIP() << "the sanitizer has these functions for itself";
  }
  void TearDown() override {
    time_of_test = -1;
    monitor_stands_still = false;
    counts_ms_only = false;
    alarmed::TearDown();
  }
};

// ---- tickers --------------------------------------------------------------------------------------------------------

// Whether a tick comes once the processor has looked at its timers, which it does every eighth task.
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
        // The n-th tick is due at n periods; each time it comes later, by up to most of a period.
        for (int n = 1; n != 20; ++n) {
          const instant due = begin + n * period;
          time_of_test = due - 1;
          EXPECT_FALSE(co_await ticks(ticker)) << "tick " << n << " came too early";
          time_of_test = due + n * period / 21;
          EXPECT_TRUE(co_await ticks(ticker)) << "tick " << n << " did not come";
        }
        // Those that were missed come as one.
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

// ---- timers while the monitor stands still, which else hides that a machine forgets them ----------------------------

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

// ---- a kernel that counts in ms -------------------------------------------------------------------------------------

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
