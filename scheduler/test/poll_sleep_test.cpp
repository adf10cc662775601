// SPDX-License-Identifier: MIT
// Which machine sleeps in the poller. The tests of poll_sleep call its steps on one thread; the models check the
// interleavings of several threads. A test of the whole scheduler checks that a machine polls when all others block.
#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <span>
#include <thread>
#include <utility>

#include <runq/protocol/poll_sleep.hpp>
#include <unistd.h>

#include "support.hpp"

namespace {

struct token {
  bool take() { return std::exchange(there, false); }
  [[nodiscard]] bool has_token() const { return there; }
  void park() {
    ++parked;
    there = false;
  }
  void unpark() { there = true; }
  bool there = false;
  int parked = 0;  // how often a machine slept on its token and not in the poller
};

/// A fake of the scheduler around poll_sleep. Time stands still. `meanwhile` is called while a machine sleeps in the
/// poller.
struct host {
  using sleep_type = runq::poll_sleep<token, host>;
  [[nodiscard]] bool something_to_poll() const { return descriptors || timer != sleep_type::never; }
  [[nodiscard]] sleep_type::instant earliest_timer() const { return timer; }
  void wait_for_events(sleep_type::instant until) {
    slept_until = until;
    ++sleeps;
    meanwhile();
    if (rings > answered) {
      ++answered;
      sleep.answered();
    }
  }
  void ring() { ++rings; }
  void fire_timers() {
    if (timer != sleep_type::never && timer <= now) timer = sleep_type::never;
  }

  bool descriptors = false;
  sleep_type::instant timer = sleep_type::never;
  sleep_type::instant now = 0;
  sleep_type::instant slept_until = 0;
  int sleeps = 0;
  int rings = 0;
  int answered = 0;
  std::function<void()> meanwhile;
  sleep_type sleep{*this};
  token mine;
};

TEST(poll_sleep, without_anything_to_poll_for_a_machine_sleeps_on_its_token) {
  host h;
  h.sleep.park(h.mine);
  EXPECT_EQ(h.mine.parked, 1);
  EXPECT_EQ(h.sleeps, 0);
}

TEST(poll_sleep, a_token_that_is_there_is_taken_without_sleeping) {
  host h;
  h.descriptors = true;
  h.mine.there = true;
  h.sleep.park(h.mine);
  EXPECT_EQ(h.sleeps, 0);
  EXPECT_FALSE(h.mine.there);
}

TEST(poll_sleep, the_second_machine_sleeps_beside_the_poller) {
  host h;
  h.descriptors = true;
  token second;
  h.meanwhile = [&] {
    EXPECT_TRUE(h.sleep.watched());
    h.sleep.park(second);
    h.sleep.unpark(second);
    EXPECT_EQ(h.rings, 0) << "a ring for a machine that is not in the poller";
    h.sleep.unpark(h.mine);
  };
  h.sleep.park(h.mine);
  EXPECT_EQ(second.parked, 1);
  EXPECT_EQ(h.sleeps, 1);
  EXPECT_EQ(h.rings, 1);
  EXPECT_FALSE(h.sleep.watched());
}

TEST(poll_sleep, X4_a_timer_rings_only_if_it_is_due_before_the_sleep_would_end) {
  host h;
  h.timer = 100;
  h.meanwhile = [&] {
    EXPECT_EQ(h.slept_until, 100);
    EXPECT_FALSE(h.sleep.timer_added(200));
    EXPECT_FALSE(h.sleep.timer_added(100));
    EXPECT_EQ(h.rings, 0);
    EXPECT_FALSE(h.sleep.timer_added(50));
    EXPECT_EQ(h.rings, 1);
    h.mine.there = true;
  };
  h.sleep.park(h.mine);
}

TEST(poll_sleep, several_threads_that_ring_at_once_ring_once_and_again_after_the_answer) {
  host h;
  h.descriptors = true;
  int times = 0;
  h.meanwhile = [&] {
    for (int i = 0; i != 3; ++i) EXPECT_FALSE(h.sleep.timer_added(5));
    EXPECT_EQ(h.rings, ++times);
    if (times == 2) h.mine.there = true;
  };
  h.sleep.park(h.mine);
  EXPECT_EQ(h.sleeps, 2);
}

TEST(poll_sleep, a_timer_that_nobody_would_wait_for_asks_for_a_machine) {
  host h;
  h.timer = 10;
  EXPECT_TRUE(h.sleep.timer_added(10));
}

TEST(poll_sleep, a_due_timer_is_fired_before_the_next_sleep) {
  host h;
  h.timer = 10;
  h.meanwhile = [&] {
    h.now = 10;
    if (h.sleeps == 2) h.mine.there = true;
  };
  h.descriptors = true;
  h.sleep.park(h.mine);
  EXPECT_EQ(h.slept_until, host::sleep_type::never);
}

// One machine is in a blocking call, which ends only if another machine polls.
TEST(poll_sleep, S8_somebody_polls_while_all_others_are_in_blocking_calls) {
  for (const unsigned procs : {1U, 2U}) {
    std::atomic<bool> got{false};
    bool polled = false;
    std::thread outside;
    runq::scheduler s({.procs = procs});
    s.run([&]() -> runq::task<> {
      auto [in, out] = runq::net::pipe();
      runq::go([](runq::net::stream from, std::atomic<bool>& read) -> runq::task<> {
        std::array<std::byte, 1> bytes{};
        (void)co_await from.read(bytes);
        read = true;
      }(std::move(in), got));
      co_await sched_test::yield_until([&] { return s.dump().find("[IO wait]") != std::string::npos; });
      const int fd = out.fd();
      outside = std::thread([fd, &s] {
        // Waits until the monitor has taken the processor and sleeps, too: then only a machine can poll.
        EXPECT_TRUE(sched_test::wait_until([&] { return s.trace(true).find(" sysmonwait=1") != std::string::npos; }));
        EXPECT_EQ(::write(fd, "x", 1), 1);
      });
      co_await runq::blocking([&] { polled = sched_test::wait_for(got); });
    });
    outside.join();
    EXPECT_TRUE(polled) << procs << ": no thread polled while the only busy machine was in a blocking call";
  }
}

}  // namespace
