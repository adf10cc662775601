// SPDX-License-Identifier: MIT
// rate_limiter: its arithmetic is asked with times of the test's choice, and the limiter itself runs under a clock that
// only the test moves. Rows SC4, SC5, SC16.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <runq/detail/token_bucket.hpp>

#include "clock_of_test.hpp"
#include "support.hpp"

namespace {

using namespace std::chrono_literals;
using runq::rate_limiter;
using runq::task;
using runq::detail::instant;
using runq::detail::token_bucket;
using sched_test::time_of_test;

// ---- the arithmetic -------------------------------------------------------------------------------------------------

TEST(token_bucket, SC16_is_full_at_first_and_then_gets_one_permit_per_interval) {
  constexpr instant begin = 1'000;
  token_bucket b(10, 3);
  EXPECT_LE(b.ready_at(3), begin);
  b.take(3, begin);
  EXPECT_EQ(b.ready_at(1), begin + 10);
  EXPECT_EQ(b.ready_at(2), begin + 20);
  EXPECT_EQ(b.ready_at(3), begin + 30);
  b.take(1, begin + 10);
  EXPECT_EQ(b.ready_at(1), begin + 20);
  // Half of an interval that has passed is not lost,
  b.take(1, begin + 25);
  EXPECT_EQ(b.ready_at(1), begin + 30);
  // but a full bucket saves no more.
  b.take(1, begin + 1'000);
  EXPECT_EQ(b.ready_at(2), begin + 1'000);
  EXPECT_EQ(b.ready_at(3), begin + 1'010);
}

// All sequences of some attempts: each is granted exactly if, since each earlier grant, no more than
// burst + (time since then) / interval permits are taken with it.
class every_sequence {
 public:
  every_sequence(instant interval, std::int64_t burst) : interval_(interval), burst_(burst) {}
  void go_through(token_bucket b, instant now, int attempts) {
    if (attempts == 0) return;
    for (instant gap = 0; gap != 2 * interval_ + 2; ++gap) {
      for (std::int64_t n = 1; n <= burst_; ++n) {
        token_bucket then = b;
        const instant at = now + gap;
        const bool granted = then.ready_at(n) <= at;
        ASSERT_EQ(granted, may_be_granted(at, n)) << n << " at " << at;
        if (granted) {
          then.take(n, at);
          grants_.push_back({at, n});
        }
        go_through(then, at, attempts - 1);
        if (granted) grants_.pop_back();
        ++tried;
      }
    }
  }
  std::size_t tried = 0;

 private:
  struct grant {
    instant at;
    std::int64_t n;
  };
  [[nodiscard]] bool may_be_granted(instant at, std::int64_t n) const {
    std::int64_t sum = n;
    if (sum > burst_) return false;
    for (std::size_t i = grants_.size(); i-- != 0;) {
      sum += grants_[i].n;
      if (sum > burst_ + (at - grants_[i].at) / interval_) return false;
    }
    return true;
  }
  instant interval_;
  std::int64_t burst_;
  std::vector<grant> grants_;
};

TEST(token_bucket, SC16_grants_what_the_rate_allows_and_no_more_in_every_short_sequence) {
  for (const auto& [interval, burst] : {std::pair<instant, std::int64_t>(1, 1), {3, 1}, {2, 2}, {2, 3}}) {
    every_sequence all(interval, burst);
    all.go_through(token_bucket(interval, burst), 1'000, 4);
    EXPECT_GT(all.tried, 100U);
  }
}

TEST(token_bucket, SC16_bursts_and_intervals_may_be_as_long_as_a_century) {
  constexpr instant century = token_bucket::longest;
  constexpr instant now = century / 2;
  for (const auto& [interval, burst] : {std::pair<instant, std::int64_t>(century, 1), {1, century}}) {
    token_bucket b(interval, burst);
    EXPECT_LE(b.ready_at(burst), now);
    EXPECT_LE(b.ready_at(1), now);
    b.take(burst, now);
    EXPECT_EQ(b.ready_at(burst), now + century);
    EXPECT_EQ(b.ready_at(1), now + interval);
  }
}

// ---- the limiter, by a clock that only the test moves
// ----------------------------------------------------------------

class rates_by_clock : public sched_test::alarmed {
 protected:
  void SetUp() override {
    alarmed::SetUp();
    if (!sched_test::interposed) GTEST_SKIP() << "the sanitizer replaces these functions itself";
    time_of_test = 1'000'000'000'000;
  }
  void TearDown() override {
    time_of_test = -1;
    alarmed::TearDown();
  }
  static void on_one_processor(task<> main) { runq::run(std::move(main), {.procs = 1}); }
};

// A busy processor checks its timers at every eighth task, so 64 yields are enough for what is due now, and for those
// that it makes runnable.
task<> passes(std::chrono::nanoseconds d) {
  time_of_test += d.count();
  for (int i = 0; i != 64; ++i) co_await runq::yield();
}

TEST_F(rates_by_clock, SC16_permits_come_one_per_interval_after_a_burst) {
  const auto main = []() -> task<> {
    rate_limiter l(10ms, 3);
    int got = 0;
    auto taker = runq::spawn([&]() -> task<> {
      for (int i = 0; i != 6; ++i) {
        co_await l.acquire();
        ++got;
      }
    });
    co_await passes(0ns);
    EXPECT_EQ(got, 3);
    for (int i = 4; i <= 6; ++i) {
      co_await passes(10ms - 1ns);
      EXPECT_EQ(got, i - 1);
      co_await passes(1ns);
      EXPECT_EQ(got, i);
    }
    co_await taker;
  };
  on_one_processor(main());
}

TEST_F(rates_by_clock, SC16_try_acquire_takes_what_is_there_and_never_waits) {
  const auto main = []() -> task<> {
    rate_limiter l(10ms, 3);
    EXPECT_TRUE(l.try_acquire(2));
    EXPECT_FALSE(l.try_acquire(2));
    EXPECT_TRUE(l.try_acquire());
    EXPECT_FALSE(l.try_acquire());
    co_await passes(20ms - 1ns);
    EXPECT_FALSE(l.try_acquire(2));
    co_await passes(1ns);
    EXPECT_TRUE(l.try_acquire(2));
    co_await passes(1h);
    EXPECT_TRUE(l.try_acquire(3));
    EXPECT_FALSE(l.try_acquire()) << "more than the burst was saved up";
  };
  on_one_processor(main());
}

TEST_F(rates_by_clock, SC16_a_task_that_waits_for_many_is_not_overtaken) {
  const auto main = []() -> task<> {
    rate_limiter l(10ms, 3);
    EXPECT_TRUE(l.try_acquire(3));
    std::vector<int> order;
    const auto take = [&](int who, std::int64_t n) -> task<> {
      co_await l.acquire(n);
      order.push_back(who);
    };
    auto first = runq::spawn(take(1, 3));
    co_await passes(0ns);
    auto second = runq::spawn(take(2, 1));
    co_await passes(20ms);
    EXPECT_FALSE(l.try_acquire()) << "two permits are there, but a task waits";
    EXPECT_TRUE(order.empty());
    co_await passes(10ms);
    EXPECT_THAT(order, testing::ElementsAre(1));
    co_await passes(10ms - 1ns);
    EXPECT_THAT(order, testing::ElementsAre(1));
    co_await passes(1ns);
    EXPECT_THAT(order, testing::ElementsAre(1, 2));
    co_await first;
    co_await second;
  };
  on_one_processor(main());
}

TEST_F(rates_by_clock, SC16_tasks_that_give_up_cost_those_behind_them_nothing) {
  const auto main = []() -> task<> {
    rate_limiter l(10ms, 3);
    EXPECT_TRUE(l.try_acquire(3));
    std::stop_source impatient;
    std::vector<runq::spawned<bool>> all;
    const auto gives_up = [&](std::int64_t n) -> task<bool> {
      bool cancelled = false;
      try {
        co_await l.acquire(impatient.get_token(), n);
      } catch (const runq::cancelled&) {
        cancelled = true;
      }
      co_return cancelled;
    };
    for (const std::int64_t n : {3, 3, 1}) {
      all.push_back(runq::spawn(gives_up(n)));
      co_await passes(0ns);
    }
    bool got = false;
    auto patient = runq::spawn([&]() -> task<> {
      co_await l.acquire();
      got = true;
    });
    co_await passes(10ms - 1ns);
    impatient.request_stop();
    for (auto& one : all) EXPECT_TRUE(co_await one);
    EXPECT_FALSE(got);
    co_await passes(1ns);
    EXPECT_TRUE(got) << "the permit is there, and nobody else waits";
    co_await patient;
    EXPECT_FALSE(l.try_acquire());
  };
  on_one_processor(main());
}

TEST_F(rates_by_clock, SC4_after_a_request_no_permit_is_used_although_one_is_there) {
  const auto main = []() -> task<> {
    rate_limiter l(1h, 1);
    std::stop_source stopping;
    stopping.request_stop();
    bool cancelled = false;
    try {
      co_await l.acquire(stopping.get_token());
    } catch (const runq::cancelled&) {
      cancelled = true;
    }
    EXPECT_TRUE(cancelled);
    EXPECT_TRUE(l.try_acquire());
  };
  on_one_processor(main());
}

TEST_F(rates_by_clock, SC5_a_wait_for_a_permit_has_a_time_limit) {
  const auto main = []() -> task<> {
    rate_limiter l(10ms, 2);
    co_await runq::with_timeout(1ms, l.acquire(2));
    std::optional<bool> timed_out;
    auto late = runq::spawn([&]() -> task<> {
      try {
        co_await runq::with_timeout(1ms, l.acquire());
        timed_out = false;
      } catch (const runq::timed_out&) {
        timed_out = true;
      }
    });
    co_await passes(0ns);
    co_await passes(1ms);
    EXPECT_EQ(timed_out, true);
    co_await late;
    std::stop_source own;
    EXPECT_THROW((void)runq::with_timeout(1ms, l.acquire(own.get_token())), runq::misuse);
    co_await passes(9ms);
    EXPECT_TRUE(l.try_acquire()) << "the wait that was timed out has used a permit";
  };
  on_one_processor(main());
}

TEST_F(rates_by_clock, L2_tasks_that_wait_when_the_run_ends_use_no_permit) {
  rate_limiter outer(10ms, 1);
  EXPECT_TRUE(outer.try_acquire());
  for (int i = 0; i != 3; ++i) {
    const auto owned = std::make_shared<int>(1);
    const auto main = [&]() -> task<> {
      rate_limiter inner(1h, 1);
      EXPECT_TRUE(inner.try_acquire());
      const auto waits = [](rate_limiter& l, std::shared_ptr<int>) -> task<> { co_await l.acquire(); };
      for (int k = 0; k != 3; ++k) {
        runq::go(waits(outer, owned));
        runq::go(waits(inner, owned));
      }
      co_await passes(0ns);
    };
    on_one_processor(main());
    EXPECT_EQ(owned.use_count(), 1);
  }
  time_of_test += 10'000'000;
  EXPECT_TRUE(outer.try_acquire());
}

// ---- by the system's clock ------------------------------------------------------------------------------------------

class rates : public sched_test::alarmed {};

TEST_F(rates, SC16_refuses_what_can_never_be) {
  const auto bad =
      "runq: a rate limiter has an interval of 1 ns or more and a burst of 1 or more, and the burst takes "
      "at most 100 years";
  const auto making = [](std::chrono::nanoseconds interval, std::int64_t burst) {
    return sched_test::misuse_of([&] { rate_limiter l(interval, burst); });
  };
  EXPECT_EQ(making(0ns, 1), bad);
  EXPECT_EQ(making(-1s, 1), bad);
  EXPECT_EQ(making(1s, 0), bad);
  EXPECT_EQ(making(1s, -1), bad);
  EXPECT_EQ(making(rate_limiter::max_time_to_fill + 1ns, 1), bad);
  EXPECT_EQ(making(rate_limiter::max_time_to_fill, 2), bad);
  EXPECT_EQ(making(2ns, rate_limiter::max_time_to_fill / 2ns + 1), bad);
  rate_limiter slowest(rate_limiter::max_time_to_fill, 1);
  rate_limiter l(2ns, rate_limiter::max_time_to_fill / 2ns);
  EXPECT_TRUE(l.try_acquire(rate_limiter::max_time_to_fill / 2ns));

  rate_limiter three(1ms, 3);
  const auto never = "runq: 1 permit of a rate limiter can be asked for, or more, up to its burst";
  for (const std::int64_t n : {-1, 0, 4}) {
    EXPECT_EQ(sched_test::misuse_of([&] { (void)three.try_acquire(n); }), never);
    EXPECT_EQ(sched_test::misuse_of([&] { (void)three.acquire(n); }), never);
  }
}

TEST_F(rates, SC16_each_task_of_many_has_its_permits_once) {
  for (const unsigned procs : sched_test::proc_counts) {
    const auto main = []() -> task<> {
      rate_limiter l(100ns, 4);
      const auto begin = runq::clock::now();
      std::atomic<std::int64_t> taken{0};
      const auto body = [&](runq::scope& s) -> task<> {
        for (int i = 0; i != 8; ++i) {
          s.go([&, n = 1 + i % 4]() -> task<> {
            for (std::size_t k = 0; k != sched_test::rounds(500); ++k) {
              co_await l.acquire(n);
              taken += n;
              if (l.try_acquire()) ++taken;
            }
          });
        }
        co_return;
      };
      co_await runq::with_scope(body);
      // However slow the machine is, there are never more.
      EXPECT_LE(taken, 4 + (runq::clock::now() - begin) / 100ns);
    };
    runq::run(main, {.procs = procs});
  }
}

TEST_F(rates, SC16_threads_that_try_at_the_same_time_do_not_keep_each_other_out) {
  constexpr int threads = 4;
  const auto each = static_cast<int>(sched_test::rounds(1'000'000));
  rate_limiter l(runq::rate_limiter::max_time_to_fill / (threads * each), threads * each);
  std::atomic<int> refused{0};
  std::vector<std::thread> all;
  for (int i = 0; i != threads; ++i) {
    all.emplace_back([&] {
      for (int k = 0; k != each; ++k) {
        if (!l.try_acquire()) ++refused;
      }
    });
  }
  for (auto& one : all) one.join();
  EXPECT_EQ(refused, 0);
  EXPECT_FALSE(l.try_acquire());
}

TEST_F(rates, a_dump_shows_where_tasks_wait_for_a_permit) {
  const auto main = []() -> task<> {
    rate_limiter l(1h, 1);
    EXPECT_TRUE(l.try_acquire());
    std::stop_source stopping;
    const unsigned line = __LINE__ + 1;
    const auto waits = [&]() -> task<> { co_await l.acquire(stopping.get_token()); };
    auto sleeps = runq::spawn(waits());
    auto behind = runq::spawn(waits());
    const auto place = "rate_limiter_test.cpp:" + std::to_string(line);
    const auto both = [&] {
      const std::string dump = runq::this_scheduler().dump();
      return dump.find(place) != dump.rfind(place);
    };
    co_await sched_test::yield_until(both);
    stopping.request_stop();
    for (auto* const one : {&sleeps, &behind}) {
      bool cancelled = false;
      try {
        co_await *one;
      } catch (const runq::cancelled&) {
        cancelled = true;
      }
      EXPECT_TRUE(cancelled);
    }
  };
  runq::run(main);
}

}  // namespace
