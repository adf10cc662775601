// SPDX-License-Identifier: MIT
// Sleeping and timers: rows X4 to X6 of the scheduler's rules, L7 for timers, and the properties that Go's own tests of
// package time check. No test fails because something comes late. If something never comes, an alarm ends the
// program.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <runq/detail/core.hpp>
#include <sys/prctl.h>

#include "support.hpp"

namespace {

using namespace std::chrono_literals;
using runq::channel_result;
using runq::scheduler;
using runq::task;
using sched_test::patience;
using sched_test::slow_build;
using sched_test::wait_until;
using time_point = runq::clock::time_point;

constexpr auto for_ever = std::chrono::nanoseconds::max();

class timers : public sched_test::alarmed {};
using timer_heap = timers;
using timers_death = timers;

bool receives_nothing(runq::timer& t) {
  std::optional<time_point> stale;
  return t.channel().try_receive(stale) == channel_result::waits;
}

// ---- the heap -------------------------------------------------------------------------------------------------------

struct logged : runq::detail::timer_node {
  std::vector<int>* log = nullptr;
  int number = 0;
};

std::vector<std::unique_ptr<logged>> make_nodes(std::size_t n, std::vector<int>& log) {
  std::vector<std::unique_ptr<logged>> nodes;
  for (std::size_t i = 0; i != n; ++i) {
    auto& node = *nodes.emplace_back(std::make_unique<logged>());
    node.log = &log;
    node.number = static_cast<int>(i);
    node.fire = [](runq::detail::timer_node& self, runq::detail::instant) {
      auto& me = static_cast<logged&>(self);
      me.log->push_back(me.number);
      return runq::detail::never;
    };
  }
  return nodes;
}

TEST_F(timer_heap, fires_in_the_order_of_time_and_of_arrival) {
  std::vector<int> log;
  const auto nodes = make_nodes(1000, log);
  std::vector<int> expected(nodes.size());
  for (std::size_t i = 0; i != nodes.size(); ++i) expected[i] = static_cast<int>(i);
  std::mt19937 random(1);
  std::vector<std::size_t> order(nodes.size());
  for (std::size_t i = 0; i != order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  runq::detail::timer_heap heap;
  for (const std::size_t i : order) {
    nodes[i]->when = static_cast<runq::detail::instant>(i / 10);  // ten timers are due at each time
    heap.add(*nodes[i]);
  }
  std::stable_sort(expected.begin(), expected.end(), [&](int a, int b) {
    const auto place = [&](int n) { return std::find(order.begin(), order.end(), n) - order.begin(); };
    return a / 10 != b / 10 ? a / 10 < b / 10 : place(a) < place(b);
  });
  EXPECT_EQ(heap.earliest(), 0);
  EXPECT_EQ(heap.fire_due(49), 500U);
  EXPECT_EQ(heap.earliest(), 50);
  EXPECT_EQ(heap.size(), 500U);
  EXPECT_EQ(heap.fire_due(1'000'000), 500U);
  EXPECT_EQ(heap.earliest(), runq::detail::never);
  EXPECT_EQ(log, expected);
}

TEST_F(timer_heap, what_was_removed_does_not_fire) {
  std::vector<int> log;
  const auto nodes = make_nodes(1000, log);
  std::mt19937 random(2);
  runq::detail::timer_heap heap;
  for (const auto& node : nodes) {
    node->when = static_cast<runq::detail::instant>(random() % 500);
    heap.add(*node);
  }
  for (std::size_t i = 0; i < nodes.size(); i += 2) {
    EXPECT_TRUE(heap.remove(*nodes[i]));
    EXPECT_FALSE(heap.remove(*nodes[i]));
  }
  EXPECT_EQ(heap.fire_due(500), 500U);
  EXPECT_EQ(log.size(), 500U);
  EXPECT_TRUE(std::all_of(log.begin(), log.end(), [](int n) { return n % 2 == 1; }));
  EXPECT_TRUE(std::is_sorted(log.begin(), log.end(), [&](int a, int b) {
    return nodes[static_cast<std::size_t>(a)]->when < nodes[static_cast<std::size_t>(b)]->when;
  }));
  for (const auto& node : nodes) EXPECT_FALSE(heap.remove(*node));
}

TEST_F(timer_heap, clear_forgets_all) {
  std::vector<int> log;
  const auto nodes = make_nodes(10, log);
  runq::detail::timer_heap heap;
  for (const auto& node : nodes) heap.add(*node);
  heap.clear();
  EXPECT_EQ(heap.size(), 0U);
  EXPECT_EQ(heap.fire_due(1), 0U);
  for (const auto& node : nodes) EXPECT_FALSE(heap.remove(*node));
}

// A node may outlive the heap: once the heap has forgotten it, or its callback has said so, it does not ask any more.
TEST_F(timer_heap, a_forgotten_node_leaves_the_memory_of_the_heap_alone) {
  using heap = runq::detail::timer_heap;
  constexpr std::byte pattern{0xA5};
  alignas(heap) std::array<std::byte, sizeof(heap)> memory;
  heap* const h = std::construct_at(reinterpret_cast<heap*>(memory.data()));
  runq::detail::timer_node pending;
  runq::detail::timer_node fired;
  pending.when = 10;
  fired.fire = [](runq::detail::timer_node& n, runq::detail::instant) {
    n.forget_heap();
    return runq::detail::never;
  };
  h->add(pending);
  h->add(fired);
  EXPECT_EQ(h->fire_due(1), 1U);
  h->clear();
  EXPECT_EQ(h->earliest(), runq::detail::never);
  std::destroy_at(h);
  memory.fill(pattern);
  EXPECT_FALSE(heap::withdraw(pending));
  EXPECT_FALSE(heap::withdraw(fired));
  EXPECT_TRUE(std::all_of(memory.begin(), memory.end(), [](std::byte b) { return b == pattern; }));
}

// ---- sleeping -------------------------------------------------------------------------------------------------------

TEST_F(timers, sleeps_are_never_short) {
  runq::run([]() -> task<> {
    for (const std::chrono::nanoseconds d :
         {0ns, 1ns, 999ns, 1000ns, 50'000ns, 999'999ns, 1'000'000ns, 1'000'001ns, 1'500'000ns, 10'000'000ns}) {
      const auto begin = runq::clock::now();
      co_await runq::sleep_for(d);
      EXPECT_GE(runq::clock::now() - begin, d);
      const auto until = runq::clock::now() + d;
      co_await runq::sleep_until(until);
      EXPECT_GE(runq::clock::now(), until);
    }
  });
}

TEST_F(timers, sleeps_of_any_length_are_never_short) {
  constexpr int sleepers = slow_build ? 500 : 5000;
  for (const unsigned procs : {1U, 4U}) {
    std::atomic<int> early{0};
    runq::run(
        [&]() -> task<> {
          std::mt19937_64 random(procs);
          runq::wait_group done;
          done.add(sleepers);
          for (int i = 0; i != sleepers; ++i) {
            // Lengths of every order of magnitude from 1 ns to 100 ms are about equally frequent.
            const std::chrono::nanoseconds d(random() % 10'000'000 / (random() % 10'000 + 1) * (random() % 10 + 1));
            runq::go([&, d, until = i % 2 == 0]() -> task<> {
              const auto begin = runq::clock::now();
              if (until) {
                co_await runq::sleep_until(begin + d);
              } else {
                co_await runq::sleep_for(d);
              }
              if (runq::clock::now() - begin < d) ++early;
              done.done();
            });
            if (i % 100 == 0) co_await runq::yield();
          }
          co_await done.wait();
        },
        {.procs = procs});
    EXPECT_EQ(early, 0);
  }
}

TEST_F(timers, the_kernel_does_not_make_sleeps_longer_to_save_wake_ups) {
  const int slack = runq::run([]() -> task<int> { co_return prctl(PR_GET_TIMERSLACK); });
  if (slack < 0) GTEST_SKIP() << "an emulator that does not know it";
  EXPECT_EQ(slack, 1) << "ns";
}

TEST_F(timers, sleeping_for_nothing_or_less_gives_the_others_a_turn) {
  runq::run(
      []() -> task<> {
        for (const std::chrono::nanoseconds d : {0ns, -1ns, -1'000'000'000ns, std::chrono::nanoseconds::min()}) {
          const auto pending = [] { return runq::this_scheduler().stats().timers; };
          std::uint64_t meanwhile = 1;
          runq::go([&] { meanwhile = pending(); });
          co_await runq::sleep_for(d);
          EXPECT_EQ(meanwhile, 0U) << "no timer is needed for that";
          const std::stop_source source;
          meanwhile = 1;
          runq::go([&] { meanwhile = pending(); });
          co_await runq::sleep_for(d, source.get_token());
          EXPECT_EQ(meanwhile, 0U) << "no timer is needed for that";
        }
        co_await runq::sleep_until(time_point::min());
        co_await runq::sleep_until(runq::clock::now() - 1h);
      },
      {.procs = 1});
}

TEST_F(timers, many_tasks_sleep_at_once) {
  constexpr int sleepers = slow_build ? 10'000 : 100'000;
  scheduler s({.procs = 2});
  std::atomic<int> woken{0};
  std::atomic<int> early{0};
  s.run([&]() -> task<> {
    runq::wait_group done;
    done.add(sleepers);
    for (int i = 0; i != sleepers; ++i) {
      runq::go([&, d = std::chrono::microseconds((i * 7919LL) % 100'000)]() -> task<> {
        const auto begin = runq::clock::now();
        co_await runq::sleep_for(d);
        if (runq::clock::now() - begin < d) ++early;
        ++woken;
        done.done();
      });
    }
    co_await done.wait();
  });
  EXPECT_EQ(woken, sleepers);
  EXPECT_EQ(early, 0);
  EXPECT_EQ(s.stats().timers, 0U);
  EXPECT_LE(s.stats().machines_started, 2U + 2U);
}

TEST_F(timers, X5_many_pending_timers_cost_no_threads) {
  constexpr int sleepers = slow_build ? 10'000 : 100'000;
  scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    std::atomic<int> begun{0};
    for (int i = 0; i != sleepers; ++i) {
      runq::go([&, i]() -> task<> {
        ++begun;
        co_await runq::sleep_for(1h + std::chrono::seconds(i));
        ADD_FAILURE() << "an hour has passed";
      });
    }
    while (begun != sleepers) co_await runq::yield();
    co_await runq::sleep_for(5ms);
    EXPECT_EQ(s.stats().timers, static_cast<std::size_t>(sleepers));
  });
  EXPECT_EQ(s.stats().timers, 0U);
  EXPECT_LE(s.stats().machines_started, 2U + 2U);
}

// ---- timers ---------------------------------------------------------------------------------------------------------

TEST_F(timers, a_timer_sends_the_time_once) {
  runq::run([]() -> task<> {
    runq::timer t;
    const auto begin = runq::clock::now();
    t.start(3ms);
    const auto got = co_await t.channel().receive();
    EXPECT_TRUE(got.has_value());
    EXPECT_GE(*got, begin + 3ms);
    EXPECT_LE(*got, runq::clock::now());
    EXPECT_FALSE(t.stop());
    co_await runq::sleep_for(5ms);
    EXPECT_TRUE(receives_nothing(t));
  });
}

TEST_F(timers, a_timer_of_no_time_or_less_fires_once) {
  runq::run([]() -> task<> {
    for (const std::chrono::nanoseconds d : {0ns, -5ns, std::chrono::nanoseconds::min()}) {
      runq::timer t;
      t.start(d);
      const auto got = co_await t.channel().receive();
      EXPECT_TRUE(got.has_value());
      co_await runq::sleep_for(2ms);
      EXPECT_TRUE(receives_nothing(t));
    }
  });
}

TEST_F(timers, X6_a_stopped_timer_does_not_fire) {
  runq::run([]() -> task<> {
    runq::timer t;
    EXPECT_FALSE(t.stop());
    t.start(2ms);
    EXPECT_TRUE(t.stop());
    EXPECT_FALSE(t.stop());
    co_await runq::sleep_for(6ms);
    EXPECT_TRUE(receives_nothing(t));
  });
}

TEST_F(timers, X6_nothing_stale_is_received_after_stop) {
  runq::run([]() -> task<> {
    runq::timer t;
    t.start(1ms);
    while (t.channel().size() == 0) co_await runq::sleep_for(1ms);
    EXPECT_TRUE(t.stop());  // the timer has fired, but stop() removes a tick that was not received
    EXPECT_TRUE(receives_nothing(t));
    EXPECT_FALSE(t.stop());
  });
}

TEST_F(timers, X6_nothing_stale_is_received_after_reset) {
  runq::run([]() -> task<> {
    runq::timer t;
    t.start(1ms);
    while (t.channel().size() == 0) co_await runq::sleep_for(1ms);
    const auto begin = runq::clock::now();
    EXPECT_TRUE(t.reset(4ms));
    EXPECT_TRUE(receives_nothing(t) || runq::clock::now() >= begin + 4ms);
    EXPECT_TRUE(t.reset(4ms));
    const auto second = runq::clock::now();
    const auto got = co_await t.channel().receive();
    EXPECT_TRUE(got.has_value());
    EXPECT_GE(*got, begin + 4ms);
    EXPECT_LE(second, runq::clock::now());
    EXPECT_FALSE(t.reset(1h));  // the timer had fired, and its value was received
    EXPECT_TRUE(t.stop());
  });
}

TEST_F(timers, X6_stop_and_reset_race_with_firing) {
  constexpr int rounds = slow_build ? 3000 : 10'000;
  runq::run(
      []() -> task<> {
        // A task that sleeps again and again keeps the other machine busy with firing timers.
        runq::wait_group done;
        std::atomic<bool> over{false};
        done.add(1);
        runq::go([&]() -> task<> {
          while (!over) co_await runq::sleep_for(20us);
          done.done();
        });
        runq::timer t;
        for (int i = 0; i != rounds; ++i) {
          t.start(std::chrono::nanoseconds(i % 50 * 1000));
          const auto until = runq::clock::now() + std::chrono::nanoseconds(i % 64 * 1000);
          while (runq::clock::now() < until) {
          }
          if (i % 2 == 0) {
            (void)t.stop();
          } else {
            (void)t.reset(1h);
          }
          if (!receives_nothing(t)) {
            ADD_FAILURE() << "stale in round " << i;
            break;
          }
          if (i % 64 == 0) co_await runq::yield();
        }
        over = true;
        co_await done.wait();
      },
      {.procs = 2});
}

TEST_F(timers, X6_every_start_is_either_received_or_stopped) {
  // Each task stops its timer at about the time when the timer fires. Meanwhile three other machines fire what is due.
  // For some of the timers a task waits on the channel.
  constexpr int timers_at_once = 8;
  static constexpr int starts = slow_build ? 300 : 2000;
  runq::run(
      []() -> task<> {
        runq::wait_group done;
        done.add(timers_at_once);
        for (int seed = 0; seed != timers_at_once; ++seed) {
          runq::go([&, seed]() -> task<> {
            std::mt19937 random(static_cast<unsigned>(seed));
            runq::timer t;
            std::atomic<int> received{0};
            runq::wait_group receiver;
            if (seed % 2 == 0) {
              receiver.add(1);
              runq::go([&]() -> task<> {
                while (co_await t.channel().receive()) ++received;
                receiver.done();
              });
              t.start(0ns);
              co_await sched_test::yield_until([&] { return received == 1; });
            }
            int stopped = 0;
            for (int i = 0; i != starts; ++i) {
              t.start(std::chrono::microseconds(random() % 100));
              const auto until = runq::clock::now() + std::chrono::microseconds(random() % 150);
              while (runq::clock::now() < until) co_await runq::yield();
              if (i % 3 == 0) {
                stopped += t.reset(1h) ? 1 : 0;
                EXPECT_TRUE(t.stop());
              } else {
                stopped += t.stop() ? 1 : 0;
              }
              EXPECT_TRUE(receives_nothing(t)) << "stale in round " << i;
            }
            if (seed % 2 == 0) {
              t.channel().close();
              co_await receiver.wait();
              EXPECT_EQ(stopped + received, starts + 1);
            } else {
              EXPECT_EQ(stopped, starts);  // stop() also removes a tick that was not received
            }
            done.done();
          });
        }
        co_await done.wait();
      },
      {.procs = 4});
}

TEST_F(timers, a_timer_can_be_set_to_an_earlier_time) {
  runq::run([]() -> task<> {
    runq::timer t;
    t.start(1h);
    EXPECT_TRUE(t.reset(2ms));
    const auto got = co_await t.channel().receive();  // if it took an hour, the alarm would end the program
    EXPECT_TRUE(got.has_value());
  });
}

TEST_F(timers, a_timer_can_be_set_to_a_later_time) {
  runq::run([]() -> task<> {
    runq::timer t;
    t.start(1ms);
    const auto begin = runq::clock::now();
    EXPECT_TRUE(t.reset(30ms));
    const auto got = co_await t.channel().receive();
    EXPECT_TRUE(got.has_value());
    EXPECT_GE(*got, begin + 30ms);
  });
}

TEST_F(timers, a_timer_can_be_set_anew_while_a_task_waits_for_it) {
  runq::run(
      []() -> task<> {
        runq::timer t;
        t.start(1h);
        runq::wait_group done;
        done.add(1);
        runq::go([&]() -> task<> {
          const auto got = co_await t.channel().receive();
          EXPECT_TRUE(got.has_value());
          done.done();
        });
        co_await runq::sleep_for(5ms);
        EXPECT_TRUE(t.reset(1ms));
        co_await done.wait();
      },
      {.procs = 2});
}

TEST_F(timers, huge_durations_do_not_pass) {
  scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    runq::go([]() -> task<> {
      co_await runq::sleep_for(for_ever);
      ADD_FAILURE() << "slept for ever";
    });
    runq::go([]() -> task<> {
      co_await runq::sleep_until(time_point::max());
      ADD_FAILURE() << "slept until the end of time";
    });
    runq::timer longest;
    longest.start(for_ever);
    runq::timer almost;
    almost.start(for_ever - 1ns);
    co_await runq::sleep_for(25ms);
    EXPECT_TRUE(receives_nothing(longest));
    EXPECT_TRUE(receives_nothing(almost));
    EXPECT_EQ(s.stats().timers, 4U);
    EXPECT_TRUE(longest.stop());
    EXPECT_TRUE(almost.stop());
  });
}

TEST_F(timers, a_timer_destroyed_while_pending_does_nothing) {
  runq::run(
      []() -> task<> {
        for (int i = 0; i != 200; ++i) {
          auto t = std::make_unique<runq::timer>();
          t->start(std::chrono::microseconds(i % 20 * 50), i % 2 == 0 ? 0us : 50us);
          if (i % 3 == 0) co_await runq::sleep_for(std::chrono::microseconds(i % 20 * 50));
        }
        co_await runq::sleep_for(5ms);
      },
      {.procs = 2});
}

// ---- moving ---------------------------------------------------------------------------------------------------------

static_assert(std::is_nothrow_move_constructible_v<runq::timer> && std::is_nothrow_move_assignable_v<runq::timer>);
static_assert(std::is_nothrow_move_constructible_v<runq::ticker> && std::is_nothrow_move_assignable_v<runq::ticker>);
static_assert(!std::is_copy_constructible_v<runq::timer> && !std::is_copy_constructible_v<runq::ticker>);

TEST_F(timers, a_timer_object_may_be_moved_while_a_task_waits_for_it) {
  for (const unsigned procs : {1U, 2U}) {
    runq::run(
        []() -> task<> {
          runq::timer first;
          auto& channel = first.channel();
          runq::channel<bool> answers;
          std::atomic<bool> asks{false};
          runq::go([&]() -> task<> {
            asks = true;
            const auto got = co_await channel.receive();
            co_await answers.send(got.has_value());
          });
          while (!asks) co_await runq::yield();
          first.start(1h);
          runq::timer second(std::move(first));
          EXPECT_EQ(&second.channel(), &channel);
          EXPECT_TRUE(second.reset(1ms));
          const runq::timer third(std::move(second));
          const auto received = co_await answers.receive();
          EXPECT_TRUE(received.value_or(false));
        },
        {.procs = procs});
  }
}

TEST_F(timers, assigning_to_a_timer_ends_the_one_that_was_there) {
  scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    runq::timer a(1h);
    runq::timer b(1h, 1h);
    EXPECT_EQ(s.stats().timers, 2U);
    a = std::move(b);
    EXPECT_EQ(s.stats().timers, 1U);
    EXPECT_TRUE(a.reset(0ns));
    EXPECT_TRUE((co_await a.channel().receive()).has_value());
    b = runq::timer(1h);  // one that was moved from can be assigned to
    EXPECT_TRUE(b.stop());
    auto& itself = b;
    b.start(1h);
    b = std::move(itself);
    EXPECT_TRUE(b.stop());
    EXPECT_EQ(s.stats().timers, 0U);
  });
}

TEST_F(timers, timers_that_fire_all_the_time_may_be_moved) {
  constexpr std::size_t n = slow_build ? 200 : 2000;
  runq::run(
      []() -> task<> {
        std::vector<runq::timer> moving;  // moves all of them when it grows
        for (std::size_t i = 0; i != n; ++i) {
          moving.emplace_back(std::chrono::microseconds(i % 20), i % 3 == 0 ? 10us : 0us);
          if (i % 10 == 0) co_await runq::yield();
        }
        for (auto& t : moving) EXPECT_TRUE((co_await t.channel().receive()).has_value());
      },
      {.procs = 2});
}

TEST_F(timers, a_ticker_ticks_on_after_a_move) {
  runq::run([]() -> task<> {
    runq::ticker first(1ms);
    EXPECT_TRUE((co_await first.channel().receive()).has_value());
    runq::ticker second(std::move(first));
    for (int i = 0; i != 3; ++i) EXPECT_TRUE((co_await second.channel().receive()).has_value());
    runq::ticker third(1h);
    third = std::move(second);
    EXPECT_TRUE((co_await third.channel().receive()).has_value());
    third.stop();
    EXPECT_EQ(third.channel().size(), 0U);
  });
}

TEST_F(timers, using_a_timer_that_was_moved_from_is_misuse) {
  const auto message = "runq: a timer was used after it was moved from; assign another one to it first";
  runq::run([&]() -> task<> {
    runq::timer t(1h);
    const runq::timer other(std::move(t));
    // NOLINTBEGIN(bugprone-use-after-move): that is what is tested
    EXPECT_EQ(sched_test::misuse_of([&] { (void)t.channel(); }), message);
    EXPECT_EQ(sched_test::misuse_of([&] { (void)t.stop(); }), message);
    EXPECT_EQ(sched_test::misuse_of([&] { t.start(1h); }), message);
    EXPECT_EQ(sched_test::misuse_of([&] { (void)t.reset(1h); }), message);
    // NOLINTEND(bugprone-use-after-move)
    co_return;
  });
}

// ---- timers and the end of runs -------------------------------------------------------------------------------------

TEST_F(timers, a_timer_may_outlive_its_scheduler) {
  runq::timer unused;
  runq::timer pending;
  runq::timer repeating;
  runq::timer fired;
  runq::timer stopped;
  for (int again = 0; again != 2; ++again) {
    runq::run([&]() -> task<> {
      EXPECT_FALSE(pending.reset(1h));
      EXPECT_FALSE(repeating.reset(1h, 1h));
      fired.start(0ns);
      EXPECT_TRUE((co_await fired.channel().receive()).has_value());
      stopped.start(1h);
      EXPECT_TRUE(stopped.stop());
    });
    EXPECT_FALSE(pending.stop());  // the end of the run has already stopped it
    EXPECT_FALSE(fired.stop());
  }
}

/// While it fires, and so holds the lock of its heap, another thread stops `other`.
struct stops_another : runq::detail::timer_node {
  explicit stops_another(runq::timer& which) : other(which) {
    fire = [](runq::detail::timer_node& n, runq::detail::instant) {
      auto& self = static_cast<stops_another&>(n);
      self.stopper = std::jthread([&self] {
        EXPECT_FALSE(self.other.stop());
        self.stopped = true;
      });
      EXPECT_TRUE(sched_test::comes_true([&self] { return self.stopped.load(); })) << "it waits for the heap's lock";
      return runq::detail::never;
    };
  }
  runq::timer& other;
  std::atomic<bool> stopped{false};
  std::jthread stopper;
};

// The heap is destroyed with its scheduler, perhaps before the timer.
TEST_F(timers, a_timer_that_has_fired_once_does_not_ask_the_heap_any_more) {
  scheduler s({.procs = 1});
  s.run([]() -> task<> {
    runq::timer fired;
    fired.start(0ns);
    EXPECT_TRUE((co_await fired.channel().receive()).has_value());
    auto& heap = runq::detail::this_processor()->timers;
    stops_another node(fired);
    heap.add(node);
    (void)heap.fire_due(0);
    EXPECT_FALSE(heap.remove(node)) << "it has fired, here or on another thread";
  });
}

TEST_F(timers, X5_a_hundred_thousand_are_started_and_stopped_in_any_order) {
  constexpr std::size_t n = slow_build ? 10'000 : 100'000;
  scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    std::vector<runq::timer> pending(n);
    std::vector<std::size_t> order(n);
    std::mt19937 random(3);
    for (std::size_t i = 0; i != n; ++i) {
      order[i] = i;
      pending[i].start(1h + std::chrono::nanoseconds(random()));
    }
    EXPECT_EQ(s.stats().timers, n);
    std::shuffle(order.begin(), order.end(), random);
    std::size_t stopped = 0;
    for (const std::size_t i : order) stopped += pending[i].stop() ? 1 : 0;
    EXPECT_EQ(stopped, n);
    EXPECT_EQ(s.stats().timers, 0U);
    co_return;
  });
}

TEST_F(timers, are_for_tasks_only) {
  runq::timer t;
  EXPECT_FALSE(t.stop());
  EXPECT_THROW(t.start(1ms), runq::misuse);
}

// ---- tickers --------------------------------------------------------------------------------------------------------

TEST_F(timers, a_ticker_ticks_in_its_rhythm) {
  runq::run([]() -> task<> {
    runq::timer t;
    const auto begin = runq::clock::now();
    t.start(2ms, 1ms);
    auto last = begin;
    for (int i = 0; i != 20; ++i) {
      const auto got = co_await t.channel().receive();
      EXPECT_TRUE(got.has_value());
      EXPECT_GT(*got, last);
      EXPECT_GE(*got, begin + 2ms + i * 1ms);
      last = *got;
    }
    EXPECT_TRUE(t.stop());
    co_await runq::sleep_for(5ms);
    EXPECT_TRUE(receives_nothing(t));
  });
}

TEST_F(timers, a_task_that_receives_late_misses_ticks) {
  runq::run([]() -> task<> {
    runq::timer t;
    const auto begin = runq::clock::now();
    t.start(1ms, 1ms);
    co_await runq::sleep_for(20ms);
    EXPECT_EQ(t.channel().size(), 1U);
    const auto first = co_await t.channel().receive();
    EXPECT_GE(*first, begin + 1ms);
    const auto second = co_await t.channel().receive();
    EXPECT_GE(*second, begin + 20ms);  // the ticks that were missed are not sent later
  });
}

TEST_F(timers, a_ticker_may_have_a_huge_period_or_begin_in_the_past) {
  runq::run([]() -> task<> {
    runq::timer once;
    once.start(1ms, for_ever);
    (void)co_await once.channel().receive();
    co_await runq::sleep_for(5ms);
    EXPECT_TRUE(receives_nothing(once));
    EXPECT_TRUE(once.stop());
    runq::timer past;
    past.start(std::chrono::nanoseconds::min(), 1ms);
    for (int i = 0; i != 3; ++i) (void)co_await past.channel().receive();
    EXPECT_TRUE(past.stop());
  });
}

TEST_F(timers, a_negative_period_is_none) {
  runq::run([]() -> task<> {
    runq::timer t;
    t.start(1ms, -5ns);
    (void)co_await t.channel().receive();
    co_await runq::sleep_for(5ms);
    EXPECT_TRUE(receives_nothing(t));
    EXPECT_FALSE(t.stop());
  });
}

TEST_F(timers, stopping_a_ticker_races_with_its_ticks) {
  constexpr int rounds = slow_build ? 200 : 1000;
  runq::run(
      []() -> task<> {
        runq::timer t;
        for (int i = 0; i != rounds; ++i) {
          t.start(0ns, 10us);
          (void)co_await t.channel().receive();
          (void)t.stop();
          EXPECT_TRUE(receives_nothing(t));
        }
      },
      {.procs = 2});
}

TEST_F(timers, a_ticker_ticks_until_it_is_stopped) {
  runq::run([]() -> task<> {
    const auto begin = runq::clock::now();
    runq::ticker t(2ms);
    auto last = begin;
    for (int i = 1; i != 11; ++i) {
      const auto got = co_await t.channel().receive();
      EXPECT_TRUE(got.has_value());
      EXPECT_GT(*got, last);
      EXPECT_GE(*got, begin + i * 2ms);
      last = *got;
    }
    t.stop();
    co_await runq::sleep_for(6ms);
    EXPECT_EQ(t.channel().size(), 0U);
    t.reset(1ms);
    EXPECT_TRUE((co_await t.channel().receive()).has_value());
  });
}

TEST_F(timers, a_ticker_has_another_rhythm_after_reset) {
  runq::run([]() -> task<> {
    runq::ticker t(1ms);
    EXPECT_TRUE(wait_until([&] { return t.channel().size() == 1; }));
    const auto begin = runq::clock::now();
    t.reset(20ms);
    for (int i = 1; i != 4; ++i) {
      const auto got = co_await t.channel().receive();
      EXPECT_TRUE(got.has_value());
      EXPECT_GE(*got, begin + i * 20ms);
    }
  });
}

TEST_F(timers, tickers_have_a_period_and_are_for_tasks_only) {
  EXPECT_EQ(sched_test::misuse_of([] { (void)runq::ticker(0ns); }), "non-positive interval for NewTicker");
  EXPECT_EQ(sched_test::misuse_of([] { (void)runq::ticker(-1s); }), "non-positive interval for NewTicker");
  EXPECT_EQ(sched_test::misuse_of([] { (void)runq::ticker(1s); }),
            "runq: only a task can wait; this thread runs none, or is in a blocking_section");
  runq::run([]() -> task<> {
    runq::ticker t(1h);
    EXPECT_EQ(sched_test::misuse_of([&] { t.reset(0ns); }), "non-positive interval for Ticker.Reset");
    co_return;
  });
}

// ---- together with other things -------------------------------------------------------------------------------------

TEST_F(timers, a_select_may_give_up_after_some_time) {
  runq::run([]() -> task<> {
    runq::channel<int> nobody_sends;
    runq::timer timeout;
    timeout.start(2ms);
    std::optional<int> n;
    std::optional<time_point> when;
    const auto arm =
        co_await runq::select(runq::on_receive(nobody_sends, n), runq::on_receive(timeout.channel(), when));
    EXPECT_EQ(arm, 1U);
    EXPECT_TRUE(when.has_value());

    timeout.start(1h);
    runq::channel<int> ready(1);
    co_await ready.send(3);
    const auto other = co_await runq::select(runq::on_receive(ready, n), runq::on_receive(timeout.channel(), when));
    EXPECT_EQ(other, 0U);
    EXPECT_EQ(n, 3);
    EXPECT_TRUE(timeout.stop());
  });
}

TEST_F(timers, after_ends_a_select_that_takes_too_long) {
  runq::run([]() -> task<> {
    runq::channel<int> answers(1);
    std::optional<int> answer;
    std::optional<time_point> late;
    const auto begin = runq::clock::now();
    const auto first =
        co_await runq::select(runq::on_receive(answers, answer), runq::on_receive(runq::after(3ms).channel(), late));
    EXPECT_EQ(first, 1U);
    EXPECT_TRUE(late.has_value());
    EXPECT_GE(*late, begin + 3ms);
    EXPECT_LE(*late, runq::clock::now());

    co_await answers.send(5);
    const auto second =
        co_await runq::select(runq::on_receive(answers, answer), runq::on_receive(runq::after(1h).channel(), late));
    EXPECT_EQ(second, 0U);
    EXPECT_EQ(answer, 5);
  });
}

TEST_F(timers, after_leaves_no_timer_behind) {
  scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    runq::channel<int> always;
    always.close();
    std::optional<int> n;
    std::optional<time_point> late;
    for (int i = 0; i != 1000; ++i) {
      (void)co_await runq::select(runq::on_receive(always, n), runq::on_receive(runq::after(1h).channel(), late));
    }
    EXPECT_EQ(s.stats().timers, 0U);
  });
}

TEST_F(timers, after_delivers_the_time_once) {
  runq::run([]() -> task<> {
    const auto begin = runq::clock::now();
    auto t = runq::after(2ms);
    const auto got = co_await t.channel().receive();
    EXPECT_TRUE(got.has_value());
    EXPECT_GE(*got, begin + 2ms);
    co_await runq::sleep_for(5ms);
    EXPECT_EQ(t.channel().size(), 0U);
    EXPECT_TRUE((co_await runq::after(-1s).channel().receive()).has_value());
  });
  EXPECT_THROW((void)runq::after(1ms), runq::misuse);
}

TEST_F(timers, X5_another_machine_fires_the_timers_of_a_busy_processor) {
  runq::run(
      []() -> task<> {
        runq::timer t;
        std::atomic<bool> waits{false};
        std::atomic<bool> received{false};
        runq::wait_group done;
        done.add(1);
        runq::go([&]() -> task<> {
          waits = true;
          (void)co_await t.channel().receive();
          received = true;
          done.done();
        });
        while (!waits) co_await runq::yield();
        t.start(5ms);
        // This task keeps the processor in whose heap the timer is, so another machine must fire it.
        EXPECT_TRUE(wait_until([&] { return received.load(); }));
        co_await done.wait();
      },
      {.procs = 2});
}

TEST_F(timers, X5_it_fires_all_that_are_due_and_none_early) {
  // The processor in whose heap the timers are stays busy, so another machine must fire them.
  constexpr std::size_t n = 50;
  runq::run(
      [&]() -> task<> {
        std::vector<runq::timer> pending(n);
        std::vector<time_point> due;
        for (std::size_t i = 0; i != n; ++i) {
          due.push_back(runq::clock::now() + (i + 1) * 400us);
          pending[i].start(due[i] - runq::clock::now());
        }
        EXPECT_TRUE(wait_until([&] {
          return std::all_of(pending.begin(), pending.end(), [](auto& t) { return t.channel().size() == 1; });
        }));
        for (std::size_t i = 0; i != n; ++i) {
          const auto fired = co_await pending[i].channel().receive();
          EXPECT_GE(*fired, due[i]);
        }
      },
      {.procs = 2});
}

TEST_F(timers, X5_timers_fire_while_two_tasks_saturate_a_channel) {
  for (const unsigned procs : {1U, 2U}) {
    runq::channel<int> c;  // outlives the run, because the two tasks use it a little longer than main lives
    runq::run(
        [&]() -> task<> {
          auto echo = [&]() -> task<> {
            for (;;) (void)co_await c.receive();
          };
          auto shout = [&]() -> task<> {
            for (;;) co_await c.send(1);
          };
          runq::go(echo);
          runq::go(shout);
          for (int i = 0; i != 5; ++i) co_await runq::sleep_for(2ms);
        },
        {.procs = procs});
  }
}

TEST_F(timers, X4_a_long_poll_is_broken_by_a_new_timer) {
  // One task sleeps for an hour, so a machine sleeps in the poller for an hour. A new timer must end that sleep.
  // poll_sleep_test tests that the machine that adds the timer does it, and not the monitor.
  scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    runq::go([]() -> task<> { co_await runq::sleep_for(1h); });
    for (int i = 0; i != 20; ++i) {
      EXPECT_TRUE(wait_until([&] { return s.stats().idle_procs == 1; }));
      co_await runq::sleep_for(1ms);
    }
  });
}

TEST_F(timers, a_task_from_outside_breaks_a_long_poll) {
  scheduler s({.procs = 1});
  const auto handle = s.attach();
  runq::channel<int> c(1);
  std::jthread outside([&] {
    EXPECT_TRUE(wait_until([&] { return s.stats().timers == 1 && s.stats().idle_procs == 1; }));
    std::this_thread::sleep_for(100ms);  // by then the monitor usually sleeps, too
    handle.go([&c]() -> task<> { co_await c.send(1); });
  });
  s.run([&]() -> task<> {
    runq::go([]() -> task<> { co_await runq::sleep_for(1h); });
    const auto got = co_await c.receive();
    EXPECT_EQ(got, 1);
  });
}

// ---- deadlocks ------------------------------------------------------------------------------------------------------

TEST_F(timers, L7_a_pending_timer_is_no_deadlock) {
  for (const auto d : {std::chrono::nanoseconds(1h), for_ever}) {
    scheduler s({.procs = 2});
    runq::channel<int> c(1);
    std::jthread outside([&] {
      EXPECT_TRUE(wait_until([&] { return s.stats().timers == 1 && s.stats().idle_procs == 2; }));
      std::this_thread::sleep_for(20ms);
      EXPECT_EQ(c.try_send(1), channel_result::done);
    });
    s.run([&]() -> task<> {
      runq::timer t;
      t.start(d);
      const auto got = co_await c.receive();
      EXPECT_EQ(got, 1);
    });
  }
}

// No thread outside may wake a task here, so without a pending timer the scheduler would report a deadlock at once.
TEST_F(timers, L7_a_sleep_until_the_end_of_time_is_no_deadlock_and_can_be_called_off) {
  constexpr auto end = runq::clock::time_point::max();
  for (const bool stoppable : {false, true}) {
    scheduler s({.procs = 1, .threads_without_handle = runq::plain_threads::wake_no_task});
    runq::channel<int> from_outside;
    std::stop_source source;
    std::jthread outside;
    s.run([&]() -> task<> {
      runq::go([&]() -> task<> {
        if (stoppable) {
          co_await runq::sleep_until(end, source.get_token());
        } else {
          co_await runq::sleep_until(end);
        }
        ADD_FAILURE() << "the end of time has come";
      });
      outside = std::jthread([&] {
        EXPECT_TRUE(wait_until([&] { return s.stats().idle_procs == 1; }));
        EXPECT_EQ(from_outside.try_send(1), channel_result::done);
      });
      const auto got = co_await from_outside.receive();
      EXPECT_EQ(got, 1);
      EXPECT_EQ(s.stats().timers, 1U);
      if (!stoppable) co_return;
      source.request_stop();
      while (s.stats().timers != 0) co_await runq::yield();
    });
  }
}

TEST_F(timers_death, L7_a_stopped_timer_hides_no_deadlock) {
  GTEST_FLAG_SET(death_test_style, sched_test::death_test_style);
  const auto deadlock = [](unsigned procs) {
    runq::run(
        []() -> task<> {
          runq::timer t;
          t.start(1h);
          (void)t.stop();
          (void)co_await t.channel().receive();
        },
        {.procs = procs});
  };
  const char* const report = "^fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 \\[chan receive\\]:\n";
  EXPECT_EXIT(deadlock(1), testing::ExitedWithCode(2), report);
  EXPECT_EXIT(deadlock(2), testing::ExitedWithCode(2), report);
}

TEST_F(timers_death, L7_a_timer_that_has_fired_hides_no_deadlock) {
  GTEST_FLAG_SET(death_test_style, sched_test::death_test_style);
  const auto deadlock = [] {
    runq::run(
        []() -> task<> {
          runq::timer t;
          t.start(1ms);
          for (;;) {
            (void)co_await t.channel().receive();
            std::fputs("received\n", stderr);
          }
        },
        {.procs = 2});
  };
  EXPECT_EXIT(deadlock(), testing::ExitedWithCode(2),
              "^received\nfatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 \\[chan receive\\]:\n");
}

// ---- the end --------------------------------------------------------------------------------------------------------

TEST_F(timers, run_ends_while_timers_are_pending) {
  scheduler s({.procs = 2});
  for (int i = 0; i != 20; ++i) {
    s.run([&]() -> task<> {
      std::atomic<int> begun{0};
      for (int k = 0; k != 20; ++k) {
        runq::go([&begun, k]() -> task<> {
          runq::timer t;
          t.start(std::chrono::microseconds(k * 10), 20us);
          ++begun;
          if (k % 2 == 0) {
            co_await runq::sleep_for(1h);
          } else {
            for (;;) (void)co_await t.channel().receive();
          }
        });
      }
      while (begun != 20) co_await runq::yield();
    });
    EXPECT_EQ(s.stats().timers, 0U);
  }
  s.run([]() -> task<> { co_await runq::sleep_for(1ms); });
}

}  // namespace
