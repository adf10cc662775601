// SPDX-License-Identifier: MIT
// The scheduler under load: no task is lost, none runs twice, and everything ends. Rows X3, X14, L9 to L11 and L18, and
// what Go's own tests of its scheduler do. RUNQ_STRESS=n makes every run n times as long.
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>

#include "support.hpp"

namespace {

using runq::task;
using sched_test::rounds;
using sched_test::yield_until;

class on_procs : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(procs, on_procs, testing::Values(1, 2, 4, 16),
                         [](const auto& procs) { return std::to_string(procs.param); });

// About ten million tasks, started in bursts that overflow the local queues.
TEST_P(on_procs, Q17_ten_million_tasks_run_once_each) {
  const std::size_t bursts = rounds(10'000);
  constexpr int burst = 1000;
  std::atomic<std::uint64_t> sum{0};
  runq::scheduler s({.procs = GetParam()});
  s.run([&]() -> task<> {
    for (std::size_t b = 0; b != bursts; ++b) {
      runq::wait_group group;
      group.add(burst);
      for (int i = 0; i != burst; ++i) {
        runq::go([&, i] {
          sum.fetch_add(static_cast<std::uint64_t>(i), std::memory_order::relaxed);
          group.done();
        });
      }
      co_await group.wait();
    }
    EXPECT_EQ(s.stats().spawned, bursts * burst + 1);
  });
  EXPECT_EQ(sum, bursts * (burst * (burst - 1) / 2));
}

task<> tree(int depth, std::atomic<std::uint64_t>& leaves, runq::wait_group& group) {
  if (depth == 0) {
    leaves.fetch_add(1, std::memory_order::relaxed);
  } else {
    group.add(2);
    runq::go(tree(depth - 1, leaves, group));
    runq::go(tree(depth - 1, leaves, group));
  }
  group.done();
  co_return;
}

TEST_P(on_procs, Q17_tasks_that_start_two_others_each) {
  for (std::size_t i = 0; i != rounds(50); ++i) {
    std::atomic<std::uint64_t> leaves{0};
    runq::run(
        [&]() -> task<> {
          runq::wait_group group;
          group.add(1);
          runq::go(tree(14, leaves, group));
          co_await group.wait();
        },
        {.procs = GetParam()});
    ASSERT_EQ(leaves, 1U << 14);
  }
}

TEST_P(on_procs, L22_tasks_that_yield_all_the_time) {
  const std::size_t yields = rounds(20'000);
  std::atomic<std::uint64_t> turns{0};
  runq::scheduler s({.procs = GetParam()});
  s.run([&]() -> task<> {
    runq::wait_group group;
    group.add(64);
    for (int i = 0; i != 64; ++i) {
      runq::go([&]() -> task<> {
        for (std::size_t n = 0; n != yields; ++n) {
          turns.fetch_add(1, std::memory_order::relaxed);
          co_await runq::yield();
        }
        group.done();
      });
    }
    co_await group.wait();
    EXPECT_EQ(s.stats().yields, 64 * yields);
  });
  EXPECT_EQ(turns, 64 * yields);
}

TEST_P(on_procs, X7_a_token_goes_around_a_ring_of_channels) {
  constexpr std::size_t members = 503;
  const int laps = static_cast<int>(rounds(1'000));
  const int hops = runq::run(
      [laps]() -> task<int> {
        std::vector<std::unique_ptr<runq::channel<int>>> ring;
        for (std::size_t i = 0; i != members; ++i) ring.push_back(std::make_unique<runq::channel<int>>());
        for (std::size_t i = 0; i + 1 != members; ++i) {
          runq::go([&from = *ring[i], &to = *ring[i + 1]]() -> task<> {
            while (auto n = co_await from.receive()) co_await to.send(*n + 1);
            to.close();
          });
        }
        int n = 0;
        for (int lap = 0; lap != laps; ++lap) {
          co_await ring[0]->send(n);
          n = *co_await ring[members - 1]->receive() + 1;
        }
        ring[0]->close();
        EXPECT_FALSE((co_await ring[members - 1]->receive()).has_value());
        co_return n;
      },
      {.procs = GetParam()});
  EXPECT_EQ(hops, laps * static_cast<int>(members));
}

TEST_P(on_procs, X7_many_tokens_at_once_keep_all_processors_busy) {
  constexpr std::size_t members = 64;
  const int laps = static_cast<int>(rounds(2'000));
  runq::run(
      [laps]() -> task<> {
        std::array<runq::channel<int>, members> ring;
        runq::wait_group group;
        group.add(members);
        for (std::size_t i = 0; i != members; ++i) {
          // Even members send first, odd members receive first. So the ring cannot deadlock.
          runq::go([&, i]() -> task<> {
            for (int lap = 0; lap != laps; ++lap) {
              if (i % 2 == 0) co_await ring[i].send(lap);
              EXPECT_EQ(*co_await ring[(i + members - 1) % members].receive(), lap);
              if (i % 2 == 1) co_await ring[i].send(lap);
            }
            group.done();
          });
        }
        co_await group.wait();
      },
      {.procs = GetParam()});
}

// ---- work conservation ----------------------------------------------------------------------------------------------

void parallel_tokens(unsigned procs, unsigned laps) {
  runq::run(
      [=]() -> task<> {
        std::atomic<unsigned> turn{0};
        runq::wait_group group;
        group.add(procs);
        for (unsigned i = 0; i != procs; ++i) {
          runq::go([&, i] {
            sched_test::pass_tokens(turn, i, procs, laps);
            group.done();
          });
        }
        co_await group.wait();
      },
      {.procs = procs});
}

// Go's TestGoroutineParallelism.
TEST(scheduler_stress, L18_four_tasks_that_spin_for_each_other_all_run_at_once) {
  for (std::size_t i = 0; i != rounds(200); ++i) parallel_tokens(4, 5);
}

// A new thread begins on another CPU than its creator, and may run on all of the creator's after that.
TEST(scheduler_stress, L9_each_thread_may_run_on_the_cpus_of_the_thread_that_calls_run) {
  const auto allowed = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    EXPECT_EQ(pthread_getaffinity_np(pthread_self(), sizeof set, &set), 0);
    return set;
  };
  const cpu_set_t expected = allowed();
  constexpr unsigned procs = 4;
  for (std::size_t i = 0; i != rounds(50); ++i) {
    std::atomic<unsigned> begun{0};
    std::atomic<unsigned> others{0};
    runq::run(
        [&]() -> task<> {
          runq::wait_group group;
          group.add(procs);
          for (unsigned k = 0; k != procs; ++k) {
            runq::go([&] {
              const cpu_set_t here = allowed();
              if (!CPU_EQUAL(&here, &expected)) ++others;
              ++begun;
              while (begun != procs) runq::std_atomics::pause();  // so that each task has a thread of its own
              group.done();
            });
          }
          co_await group.wait();
        },
        {.procs = procs});
    EXPECT_EQ(others, 0U);
  }
}

// Two tasks wake each other by turns, so that the machine that finds nothing dozes, and nobody wakes it for the task in
// the runnext slot that then waits beside a task that does not end before that one has begun.
TEST(scheduler_stress, X3_a_task_beside_the_end_of_a_chain_runs_at_once) {
  runq::run(
      []() -> task<> {
        for (std::size_t i = 0; i != rounds(50); ++i) {
          runq::channel<int> there;
          runq::channel<int> back;
          runq::go([&]() -> task<> {
            while (const auto n = co_await there.receive()) co_await back.send(*n);
            back.close();
          });
          for (int k = 0; k != 2'000; ++k) {
            co_await there.send(k);
            static_cast<void>(co_await back.receive());
          }
          there.close();
          static_cast<void>(co_await back.receive());
          std::atomic<bool> begun{false};
          runq::wait_group group;
          group.add(1);
          runq::go([&] {
            begun.store(true);
            group.done();
          });
          while (!begun.load()) runq::std_atomics::pause();
          co_await group.wait();
        }
      },
      {.procs = 2});
}

// Go's TestGoroutineParallelism2, which found golang/go#45867. Each task starts the next one, just after a load has
// ended, so the machines are about to sleep.
TEST(scheduler_stress, X3_tasks_started_while_machines_go_to_sleep_all_run_at_once) {
  constexpr unsigned procs = 4;
  runq::run(
      []() -> task<> {
        for (std::size_t i = 0; i != rounds(2'000); ++i) {
          // The load: tasks that end at different times, so that machines are spinning, about to sleep, or asleep.
          runq::wait_group load;
          load.add(procs * 2);
          for (unsigned k = 0; k != procs * 2; ++k) {
            runq::go([&, pauses = 7 * ((i * 13 + k * 5) % 32)] {
              for (std::size_t p = 0; p != pauses; ++p) runq::std_atomics::pause();
              load.done();
            });
          }
          co_await load.wait();
          std::atomic<unsigned> turn{0};
          runq::wait_group group;
          group.add(procs);
          const std::function<void(unsigned)> start = [&](unsigned k) {
            if (k + 1 != procs) {
              runq::go([&, k] { start(k + 1); });
            }
            sched_test::pass_tokens(turn, k, procs, 1);
            group.done();
          };
          runq::go([&] { start(0); });
          co_await group.wait();
        }
      },
      {.procs = procs});
}

// As in the test above, but a thread outside starts the tasks.
TEST(scheduler_stress, X3_tasks_from_outside_all_run_at_once) {
  constexpr unsigned procs = 3;
  runq::scheduler s({.procs = procs});
  const auto outside = s.attach();
  for (std::size_t i = 0; i != rounds(2'000); ++i) {
    std::atomic<unsigned> turn{0};
    for (unsigned k = 0; k != procs; ++k) {
      outside.go([&, k] { sched_test::pass_tokens(turn, k, procs, 1); });
    }
    s.wait();
  }
}

// ---- resizing -------------------------------------------------------------------------------------------------------

// Go's TestStopTheWorldDeadlock: a thousand changes of the number of processors, while a chain of tasks runs in which
// each starts the next one and ends.
TEST(scheduler_stress, X14_a_thousand_resizes_beside_a_chain_of_tasks_that_start_each_other) {
  runq::scheduler s({.procs = 3});
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> links{0};
  std::function<void()> link = [&] {
    ++links;
    if (!stop) runq::go([&] { link(); });
  };
  s.run([&]() -> task<> {
    runq::go([&] { link(); });
    for (std::size_t i = 0; i != 1000; ++i) {
      runq::set_procs(1 + static_cast<unsigned>(i % 4));
      co_await runq::yield();
    }
    stop = true;
  });
  EXPECT_GT(links, 0U);
}

TEST(scheduler_stress, L11_no_task_is_lost_while_the_number_of_processors_changes) {
  runq::scheduler s({.procs = 4});
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> resizes{0};
  std::thread resizer([&] {
    for (std::uint32_t i = 1; !stop; ++i) {
      s.set_procs(1 + (i * 2654435761U >> 16) % 8);
      ++resizes;
      if (i % 4 == 0) std::this_thread::yield();
    }
  });
  for (std::size_t i = 0; i != rounds(500); ++i) {
    std::atomic<int> ran{0};
    s.run([&]() -> task<> {
      runq::wait_group group;
      group.add(1000);
      for (int k = 0; k != 1000; ++k) {
        runq::go([&, k]() -> task<> {
          if (k % 3 == 0) co_await runq::yield();
          ++ran;
          group.done();
        });
      }
      co_await group.wait();
    });
    ASSERT_EQ(ran, 1000);
  }
  EXPECT_TRUE(sched_test::comes_true([&] { return resizes != 0; }));
  stop = true;
  resizer.join();
}

// Main ends while other tasks run, wait and yield, and a thread changes the number of processors. run() must return.
TEST(scheduler_stress, L2_the_end_of_main_ends_all_others_also_during_resizes) {
  runq::scheduler s({.procs = 2});
  std::atomic<bool> stop{false};
  std::thread resizer([&] {
    for (std::uint32_t i = 1; !stop; ++i) {
      s.set_procs(1 + (i * 2654435761U >> 16) % 4);
      std::this_thread::yield();
    }
  });
  for (std::size_t i = 0; i != rounds(5'000); ++i) {
    s.run([]() -> task<> {
      for (int k = 0; k != 8; ++k) {
        runq::go([]() -> task<> {
          for (;;) co_await runq::yield();
        });
      }
      co_await runq::yield();
    });
  }
  stop = true;
  resizer.join();
}

// ---- from outside ---------------------------------------------------------------------------------------------------

TEST_P(on_procs, Q17_tasks_started_by_several_threads_outside_run_once_each) {
  const std::size_t each = rounds(100'000);
  runq::scheduler s({.procs = GetParam()});
  const auto outside = s.attach();
  std::atomic<std::uint64_t> ran{0};
  std::vector<std::thread> threads;
  for (int t = 0; t != 3; ++t) {
    threads.emplace_back([&, mine = outside] {
      for (std::size_t i = 0; i != each; ++i) {
        mine.go([&] { ran.fetch_add(1, std::memory_order::relaxed); });
        if (i % 64 == 0) std::this_thread::yield();
      }
    });
  }
  for (auto& t : threads) t.join();
  s.wait();
  EXPECT_EQ(ran, 3 * each);
  EXPECT_EQ(s.stats().spawned, s.stats().finished);
}

// Statistics and dumps may be asked for at any time.
TEST(scheduler_stress, L23_statistics_and_dumps_while_everything_runs) {
  runq::scheduler s({.procs = 4});
  std::atomic<bool> stop{false};
  std::thread observer([&] {
    std::size_t seen = 0;
    while (!stop) {
      const auto stats = s.stats();
      EXPECT_LE(stats.idle_procs, 4U);
      EXPECT_EQ(stats.local_queues.size(), stats.ticks.size());
      seen += s.dump().size();
      std::this_thread::yield();
    }
    static_cast<void>(seen);
  });
  for (std::size_t i = 0; i != rounds(5'000); ++i) {
    s.run([]() -> task<> {
      runq::channel<int> c;
      for (int k = 0; k != 50; ++k) {
        runq::go([&]() -> task<> { co_await c.send(1); }, "sender");
      }
      for (int k = 0; k != 50; ++k) (void)co_await c.receive();
    });
  }
  stop = true;
  observer.join();
}

// Machines sleep and are woken for every task. If a wake-up is lost, the test hangs.
TEST(scheduler_stress, L19_no_wake_up_is_lost_when_machines_sleep_after_every_task) {
  for (const unsigned procs : {1U, 2U, 3U}) {
    runq::scheduler s({.procs = procs});
    const auto outside = s.attach();
    for (std::size_t i = 0; i != rounds(30'000); ++i) {
      std::atomic<int> ran{0};
      outside.go([&] { ++ran; });
      s.wait();
      ASSERT_EQ(ran, 1);
    }
  }
}

}  // namespace
