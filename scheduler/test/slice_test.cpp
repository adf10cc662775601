// SPDX-License-Identifier: MIT
// Time slices, blocking calls and chains of tasks: row X1 of the scheduler's rules; Q11, S3, S5 and S6 as far as they
// are about time. The components get their times from the test. The whole scheduler runs under a clock that only the
// test moves, so every task takes exactly as long as it says, on any machine. For this the program replaces
// clock_gettime().
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

#include <runq/detail/fair_time.hpp>

#include "clock_of_test.hpp"
#include "support.hpp"

namespace {

using runq::task;
using runq::detail::instant;
using runq::detail::lifo_chain;
using runq::detail::longest_slice;
using runq::detail::slice_watch;
using sched_test::interposed;
using sched_test::time_of_test;

constexpr instant us = 1000;
constexpr instant ms = 1000 * us;

// ---- the monitor's watch --------------------------------------------------------------------------------------------

TEST(slice, S6_a_slice_is_over_when_the_same_one_has_been_seen_for_10_ms) {
  slice_watch seen;
  const instant begin = 5 * ms;
  EXPECT_FALSE(seen.over(7, begin));
  EXPECT_FALSE(seen.over(7, begin + longest_slice - 1));
  EXPECT_TRUE(seen.over(7, begin + longest_slice));
  EXPECT_FALSE(seen.over(7, begin + longest_slice + 1)) << "told once";
  EXPECT_FALSE(seen.over(7, begin + 2 * longest_slice - 1));
  EXPECT_TRUE(seen.over(7, begin + 2 * longest_slice));
  EXPECT_EQ(longest_slice, 10 * ms);
}

TEST(slice, S6_every_slice_begins_anew) {
  slice_watch seen;
  for (std::uint64_t number = 1; number != 100; ++number) {
    EXPECT_FALSE(seen.is(number));
    EXPECT_FALSE(seen.over(number, static_cast<instant>(number) * 2 * longest_slice));
    EXPECT_TRUE(seen.is(number));
  }
}

TEST(slice, S3_a_call_that_is_seen_once_keeps_its_processor) {
  runq::detail::call_watch seen;
  instant t = 1 * ms;
  // The calls are 100 ms apart, but no call is seen twice.
  for (std::uint64_t call = 1; call != 2001; call += 2) EXPECT_FALSE(seen.again(call, t += 100 * ms));
}

TEST(slice, S5_a_call_that_is_seen_twice_loses_its_processor_if_somebody_needs_it) {
  runq::detail::call_watch seen;
  EXPECT_FALSE(seen.again(1, 1 * ms));
  EXPECT_TRUE(seen.again(1, 1 * ms + 20 * us));
  const auto taken = [&](bool has_work, bool others_look, instant t) {
    return seen.costs_the_processor(has_work, others_look, 1 * ms + t);
  };
  EXPECT_TRUE(taken(true, true, 20 * us)) << "there is work for it";
  EXPECT_TRUE(taken(false, false, 20 * us)) << "no machine waits for descriptors and timers";
  EXPECT_FALSE(taken(false, true, 20 * us)) << "no machine needs it";
  EXPECT_FALSE(taken(false, true, longest_slice - 1));
  EXPECT_TRUE(taken(false, true, longest_slice)) << "for 10 ms";
}

// ---- chains ---------------------------------------------------------------------------------------------------------

/// A processor on which chains of tasks take turns. The test says how long each task takes.
class turns {
 public:
  struct turn {
    std::uint32_t tasks = 0;
    instant time = 0;
  };
  /// Runs a chain of tasks that take `each`, until the chain is full. `slice`: how long the time slice is.
  turn run(instant each, instant slice = runq::detail::never) {
    turn t;
    while (!asked(t.time >= slice)) {
      chain_.grow();
      now_ += each;
      t.time += each;
      ++t.tasks;
    }
    return t;
  }
  /// Runs two chains in turn until lifo_chain has measured how long their turns are. The last one has the long tasks.
  void notice_long_turns(instant short_task, instant long_task) {
    for (std::uint32_t i = 0; i <= lifo_chain::chains_per_look; ++i) {
      (void)run(short_task);
      (void)run(long_task);
    }
  }
  /// Runs a task that belongs to no chain.
  void run_other(instant time) {
    chain_.end();
    now_ += time;
  }
  void rest(instant time) {
    chain_.forget();
    now_ += time;
  }
  [[nodiscard]] int readings() const { return readings_; }

 private:
  bool asked(bool slice_is_over) {
    const auto clock = [this] {
      ++readings_;
      return now_;
    };
    return chain_.due(slice_is_over) && chain_.full(slice_is_over, clock);
  }

  lifo_chain chain_;
  int readings_ = 0;
  instant now_ = 1 * ms;
};

TEST(slice, Q11_a_chain_is_full_after_16_tasks) {
  for (const instant each : {instant{0}, 1 * us, 300 * us}) {
    turns p;
    for (int i = 0; i != 100; ++i) EXPECT_EQ(p.run(each).tasks, 16U);
  }
}

TEST(slice, Q11_a_chain_is_full_after_16_tasks_where_chains_differ_by_less_than_a_factor_of_two) {
  turns p;
  for (int i = 0; i != 100; ++i) {
    EXPECT_EQ(p.run(10 * us).tasks, 16U);
    EXPECT_EQ(p.run(19 * us).tasks, 16U);
  }
}

TEST(slice, Q11_a_chain_is_full_after_16_tasks_where_all_chains_are_short) {
  turns p;
  for (int i = 0; i != 100; ++i) {
    EXPECT_EQ(p.run(50).tasks, 16U);
    EXPECT_EQ(p.run(2 * us).tasks, 16U);
  }
}

TEST(slice, Q11_a_task_between_the_chains_ends_them) {
  for (const instant each : {1 * us, 10 * us}) {
    turns p;
    for (int i = 0; i != 100; ++i) {
      p.run_other(each);
      EXPECT_EQ(p.run(each).tasks, 16U);
    }
  }
}

TEST(slice, X1_the_clock_is_read_once_in_eight_chains_that_are_short) {
  turns p;
  for (int i = 0; i != 80; ++i) (void)p.run(1 * us);
  EXPECT_EQ(p.readings(), 10);
}

TEST(slice, X1_chains_of_short_tasks_have_at_least_half_as_much_time_as_those_of_long_ones) {
  for (const instant each : {instant{30}, instant{300}, 3 * us, 100 * us}) {
    turns p;
    p.notice_long_turns(each, 300 * us);
    const instant longer = p.run(300 * us).time;
    EXPECT_EQ(longer, 16 * 300 * us);
    for (int i = 0; i != 20; ++i) {
      const instant shorter = p.run(each).time;
      EXPECT_GE(2 * shorter, longer - longer / 16);
      EXPECT_LE(shorter, longer);
      EXPECT_EQ(p.run(300 * us).time, longer);
    }
  }
}

TEST(slice, X1_no_chain_grows_by_more_than_a_time_slice) {
  turns p;
  p.notice_long_turns(1 * us, 100 * ms);
  EXPECT_LE(p.run(1 * us).time, longest_slice + 16 * us);
}

TEST(slice, X1_a_chain_is_full_when_its_time_slice_is_over) {
  turns p;
  EXPECT_EQ(p.run(4 * ms, longest_slice).tasks, 3U);
  EXPECT_EQ(p.run(20 * ms, longest_slice).tasks, 2U) << "one task is no chain";
  EXPECT_GE(p.run(1 * us).time, longest_slice / 2) << "the time that it has had counts as a turn";
}

TEST(slice, X1_a_chain_beside_a_task_that_computes_has_its_share_too) {
  turns p;
  for (int i = 0; i != 30; ++i) {
    p.run_other(5 * ms);
    const instant time = p.run(1 * us).time;
    if (i < 16) continue;  // lifo_chain reads the clock only after 8 chains, and measures turns from then on
    EXPECT_GE(time, 5 * ms / 2);
    EXPECT_LE(time, 5 * ms);
  }
}

TEST(slice, X1_long_turns_are_forgotten) {
  turns p;
  p.notice_long_turns(1 * us, 300 * us);
  int chains = 0;
  while (p.run(1 * us).tasks != 16) ++chains;
  EXPECT_GT(chains, 16);
  EXPECT_LT(chains, 16 * 8) << "5 ms, down to 32 µs by a sixteenth each";
}

TEST(slice, X1_time_in_which_the_processor_was_not_in_use_is_no_turn) {
  for (const instant each : {1 * us, 10 * us}) {
    turns p;
    for (int i = 0; i != 100; ++i) {
      EXPECT_EQ(p.run(each).tasks, 16U);
      p.rest(100 * ms);
    }
  }
}

// ---- the scheduler --------------------------------------------------------------------------------------------------

/// Stops the clock during a test: only compute() moves it. Restores the system's time at the end.
class under_the_tests_clock : public sched_test::alarmed {
 protected:
  void SetUp() override {
    if (!interposed) GTEST_SKIP() << "the sanitizer replaces clock_gettime() itself";
    alarmed::SetUp();
    time_of_test = 1000 * ms;
  }
  void TearDown() override {
    time_of_test = -1;
    alarmed::TearDown();
  }
  static void compute(instant time) { time_of_test += time; }
};
using pairs = under_the_tests_clock;

/// Two tasks that hand a token to each other. The task with the token computes for `length`, and adds that to `work`.
struct pair_of_tasks {
  explicit pair_of_tasks(instant each) : length(each) {}
  const instant length;
  runq::channel<int> ping;
  runq::channel<int> pong;
  instant work = 0;
  int turns = 0;
};

// Go's TestPingPongHog: after `time`, the work of any two pairs may differ by a factor of 20 at most. If the scheduler
// counted only tasks and not their time, the work would differ by the ratio of the pairs' lengths.
void share_a_processor(std::vector<instant> lengths, instant time) {
  std::vector<std::unique_ptr<pair_of_tasks>> all;
  for (const instant length : lengths) all.push_back(std::make_unique<pair_of_tasks>(length));
  const auto compute = [](pair_of_tasks& pair) {
    time_of_test += pair.length;
    // The monitor would end the slice, but its waits follow the system's clock. So the test ends the slice here.
    if (pair.length >= longest_slice) {
      auto& slice = runq::detail::this_front()->slice;
      slice.end(slice.current());
    }
    pair.work += pair.length;
    ++pair.turns;
  };
  runq::run(
      [&]() -> task<> {
        const instant end = time_of_test + time;
        runq::wait_group done;
        done.add(2 * static_cast<int>(all.size()));
        for (auto& pair : all) {
          runq::go([&, &p = *pair]() -> task<> {
            while (auto token = co_await p.ping.receive()) {
              compute(p);
              co_await p.pong.send(*token);
            }
            done.done();
          });
          runq::go([&, &p = *pair]() -> task<> {
            while (time_of_test < end) {
              compute(p);
              co_await p.ping.send(1);
              (void)co_await p.pong.receive();
            }
            p.ping.close();
            done.done();
          });
        }
        co_await done.wait();
      },
      {.procs = 1});
  for (const auto& a : all) {
    EXPECT_GT(a->turns, 0);
    for (const auto& b : all) EXPECT_LE(a->work, 20 * b->work) << a->length << " ns beside " << b->length << " ns";
  }
}

TEST_F(pairs, X1_a_pair_that_computes_and_one_that_does_not_share_a_processor) {
  share_a_processor({300 * us, 300}, 100 * ms);
}

TEST_F(pairs, X1_pairs_whose_every_step_takes_more_than_a_time_slice_share_a_processor) {
  share_a_processor({15 * ms, 300}, 1000 * ms);
}

TEST_F(pairs, X1_many_pairs_share_a_processor) {
  share_a_processor({300 * us, 300, 600, 1 * us, 2 * us, 5 * us, 10 * us, 100 * us}, 300 * ms);
}

TEST_F(pairs, X1_a_ping_pong_pair_stays_in_one_time_slice) {
  runq::scheduler s({.procs = 1});
  s.run([&]() -> task<> {
    runq::channel<int> ping;
    runq::channel<int> pong;
    runq::go([&]() -> task<> {
      while (auto v = co_await ping.receive()) co_await pong.send(*v);
    });
    co_await runq::yield();
    const auto before = s.stats();
    constexpr int n = 10'000;
    for (int i = 0; i != n; ++i) {
      co_await ping.send(i);
      (void)co_await pong.receive();
    }
    const auto after = s.stats();
    EXPECT_EQ(after.runnext_hits - before.runnext_hits, 2U * n);
    EXPECT_EQ(after.ticks[0], before.ticks[0]);
    ping.close();
  });
}

// In Go the pair would keep its processor for 10 ms. Here it gets 16 turns in a row, because no task computes.
TEST_F(pairs, Q11_a_task_that_yields_beside_a_ping_pong_pair_has_a_turn_within_77_dispatches) {
  std::atomic<bool> stop{false};
  std::atomic<int> turns{0};
  runq::run(
      [&]() -> task<> {
        runq::channel<int> ping;
        runq::channel<int> pong;
        runq::wait_group group;
        group.add(2);
        runq::go([&]() -> task<> {
          while (auto n = co_await ping.receive()) {
            ++turns;
            co_await pong.send(*n);
          }
          group.done();
        });
        runq::go([&]() -> task<> {
          while (!stop) {
            ++turns;
            co_await ping.send(1);
            (void)co_await pong.receive();
          }
          ping.close();
          group.done();
        });
        int most = 0;
        int all = 0;
        for (int i = 0; i != 1000; ++i) {
          turns = 0;
          co_await runq::yield();
          most = std::max(most, turns.load());
          all += turns;
        }
        EXPECT_GT(all, 1000) << "the pair stands still";
        EXPECT_LE(most, 61 + 16) << "whatever else is in the queues";
        EXPECT_LE(most, 2 * 16) << "nothing else is in the queues";
        stop = true;
        co_await group.wait();
      },
      {.procs = 1});
}

// ---- who inherits a slice -------------------------------------------------------------------------------------------

/// How many time slices have begun on processor 0.
std::string slices_of(const runq::scheduler& s) {
  const std::string text = s.trace(true);
  const std::size_t begin = text.find("schedtick=", text.find("  P0:"));
  return text.substr(begin, text.find(' ', begin) - begin);
}

TEST(slice, X1_a_task_that_the_one_before_has_woken_runs_in_its_slice_and_one_that_yields_begins_another) {
  if (!interposed) GTEST_SKIP() << "the sanitizer replaces clock_gettime() itself";
  time_of_test = 1'000 * ms;
  runq::scheduler s({.procs = 1});
  s.run([&]() -> task<> {
    runq::channel<int> there;
    runq::channel<int> back;
    auto echoes = runq::spawn([&]() -> task<> {
      while (const auto n = co_await there.receive()) co_await back.send(*n);
    });
    co_await runq::yield();
    const std::string before = slices_of(s);
    for (int i = 0; i != 20; ++i) {
      co_await there.send(i);
      EXPECT_EQ(co_await back.receive(), i);
    }
    EXPECT_EQ(slices_of(s), before);
    co_await runq::yield();
    EXPECT_NE(slices_of(s), before);
    there.close();
    co_await echoes;
  });
  time_of_test = -1;
}

}  // namespace
