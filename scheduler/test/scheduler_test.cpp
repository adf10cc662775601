// SPDX-License-Identifier: MIT
// What a scheduler does, row by row: the order of work, the life of a task, the number of processors and threads.
// Tests of order run on one processor, or keep all others busy, so that the order is determined.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <sched.h>

#include "resting.hpp"
#include "support.hpp"

namespace {

using runq::task;
using sched_test::comes_true;
using sched_test::hold_until;
using sched_test::log_of;
using sched_test::yield_until;
using testing::ElementsAre;

using numbers = std::vector<int>;

numbers from_to(int first, int last) {
  numbers n(static_cast<std::size_t>(last - first + 1));
  std::iota(n.begin(), n.end(), first);
  return n;
}

/// Calls on_0() on processor 0 and on_1() on processor 1, at the same time. Neither gives up its processor before it
/// returns.
template <class On0, class On1>
task<> on_both(On0 on_0, On1 on_1) {
  std::atomic<int> arrived{0};
  runq::wait_group group;
  group.add(1);
  const auto either = [&] {
    arrived.fetch_add(1);
    hold_until([&] { return arrived.load() == 2; }, "the second processor");
    if (runq::this_task::processor() == 0) {
      on_0();
    } else {
      on_1();
    }
  };
  runq::go([&] {
    either();
    group.done();
  });
  either();
  co_await group.wait();
}

// ---- the order of work ----------------------------------------------------------------------------------------------

task<> spawn_and_log(log_of<int>& log, int n) {
  runq::wait_group group;
  group.add(n);
  for (int i = 0; i != n; ++i) {
    runq::go([&, i] {
      log.note(i);
      group.done();
    });
  }
  co_await group.wait();
}

TEST(scheduler, Q13_ten_tasks_run_in_the_order_9_0_1_2_3_4_5_6_7_8) {
  for (int i = 0; i != 100; ++i) {
    log_of<int> log;
    runq::run(spawn_and_log(log, 10), {.procs = 1});
    ASSERT_THAT(log.all(), ElementsAre(9, 0, 1, 2, 3, 4, 5, 6, 7, 8));
  }
}

TEST(scheduler, Q10_local_before_global_before_stolen_work) {
  runq::scheduler s({.procs = 2});
  const auto outside = s.attach();
  log_of<std::string> log;
  s.run([&]() -> task<> {
    std::atomic<bool> filled{false};
    const auto note = [&log](const char* what) { return [&log, what] { log.note(what); }; };
    co_await on_both(
        [&] {
          runq::go(note("stolen"));
          runq::go(note("stolen from runnext"));
          outside.go(note("global"));
          filled = true;
          hold_until([&] { return log.size() == 4; }, "four tasks on the other processor");
        },
        [&] {
          runq::go(note("local"));
          hold_until([&] { return filled.load(); }, "the other sources");
        });
  });
  EXPECT_THAT(log.all(), ElementsAre("local", "global", "stolen", "stolen from runnext"));
}

// Two tasks are started over and over. One goes through runnext and the other through the ring, so the ring is never
// empty.
class respawning {
 public:
  void start() {
    runq::go([this] { in_ring(); });
    runq::go([this] { ++turns; });
  }
  std::atomic<bool> stop{false};
  std::atomic<int> turns{0};

 private:
  void in_ring() {
    ++turns;
    if (stop || turns > 100'000) return;  // with a limit, so that the test fails instead of hanging
    start();
  }
};

TEST(scheduler, Q11_global_queue_runs_within_61_ticks) {
  respawning others;
  runq::run(
      [&]() -> task<> {
        others.start();
        co_await runq::yield();
        EXPECT_LE(others.turns, 61);
        // From now on the main task has every 61st turn.
        for (int i = 0; i != 100; ++i) {
          others.turns = 0;
          co_await runq::yield();
          EXPECT_EQ(others.turns, 60);
        }
        others.stop = true;
      },
      {.procs = 1});
}

TEST(scheduler, Q11_several_tasks_in_the_global_queue_have_their_turns_61_ticks_apart) {
  respawning others;
  runq::scheduler s({.procs = 1});
  const auto outside = s.attach();
  s.run([&]() -> task<> {
    log_of<int> seen;
    runq::wait_group group;
    group.add(5);
    others.start();
    for (int i = 0; i != 5; ++i) {
      outside.go([&] {
        seen.note(others.turns);
        group.done();
      });
    }
    co_await group.wait();
    const auto at = seen.all();
    for (std::size_t i = 1; i != at.size(); ++i) EXPECT_EQ(at[i] - at[i - 1], 60);
    others.stop = true;
  });
}

TEST(scheduler, L27_own_work_runs_newest_first_and_a_thief_takes_the_oldest_half_and_runs_its_newest) {
  log_of<int> log;
  std::uint64_t runnext_steals = 0;
  runq::scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    std::atomic<bool> filled{false};
    co_await on_both(
        [&] {
          runnext_steals = s.stats().runnext_steals;
          for (int i = 1; i <= 8; ++i) {
            runq::go([&log, i] { log.note(i); });
          }
          filled = true;
          hold_until([&] { return log.size() == 8; }, "eight stolen tasks");
        },
        [&] { hold_until([&] { return filled.load(); }, "tasks to steal"); });
    runnext_steals = s.stats().runnext_steals - runnext_steals;
  });
  // 1 to 7 are in the ring and 8 is in runnext. The thief steals four of the seven and runs the newest of them, 4, at
  // once. Then it steals 5 and 6, then 7, and 8 last, because it takes from runnext only when the ring is empty.
  EXPECT_THAT(log.all(), ElementsAre(4, 1, 2, 3, 6, 5, 7, 8));
  EXPECT_EQ(runnext_steals, 1U);
}

TEST(scheduler, Q15_the_next_task_is_stolen_only_as_a_last_resort) {
  for (int i = 0; i != 50; ++i) {
    log_of<int> log;
    runq::run(
        [&]() -> task<> {
          std::atomic<bool> filled{false};
          co_await on_both(
              [&] {
                runq::go([&] { log.note(1); });
                runq::go([&] { log.note(2); });
                filled = true;
                hold_until([&] { return log.size() == 2; }, "both stolen");
              },
              [&] { hold_until([&] { return filled.load(); }, "tasks to steal"); });
        },
        {.procs = 2});
    ASSERT_THAT(log.all(), ElementsAre(1, 2));
  }
}

TEST(scheduler, Q15_the_ring_of_any_processor_is_robbed_before_the_next_task_of_another) {
  for (int i = 0; i != 50; ++i) {
    log_of<std::string> log;
    runq::run(
        [&]() -> task<> {
          std::atomic<int> arrived{0};
          std::atomic<int> filled{0};
          runq::wait_group group;
          group.add(2);
          const auto hold_one = [&] {
            ++arrived;
            hold_until([&] { return arrived == 3; }, "three processors");
            const unsigned self = runq::this_task::processor();
            if (self == 2) {
              hold_until([&] { return filled == 2; }, "tasks to steal");
              return;
            }
            if (self == 1) runq::go([&] { log.note("ring"); });
            runq::go([&] { log.note("next"); });
            ++filled;
            hold_until([&] { return log.size() == 3; }, "all stolen");
          };
          for (int n = 0; n != 2; ++n) {
            runq::go([&] {
              hold_one();
              group.done();
            });
          }
          hold_one();
          co_await group.wait();
        },
        {.procs = 3});
    ASSERT_THAT(log.all(), ElementsAre("ring", "next", "next"));
  }
}

TEST(scheduler, Q18_a_task_goes_to_the_queue_of_the_processor_that_starts_it) {
  runq::scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    std::atomic<bool> seen{false};
    std::atomic<bool> filled{false};
    co_await on_both(
        [&] {
          hold_until([&] { return filled.load(); }, "tasks on the other processor");
          const auto stats = s.stats();
          EXPECT_THAT(stats.local_queues, ElementsAre(0, 9)) << "the tenth is in the slot for the next task";
          EXPECT_EQ(stats.global_queue, 0U);
          seen = true;
        },
        [&] {
          for (int i = 0; i != 10; ++i) runq::go([] {});
          filled = true;
          hold_until([&] { return seen.load(); }, "the other processor's look");
        });
  });
}

TEST(scheduler, Q18_a_readied_task_goes_to_the_queue_of_the_processor_that_readies_it) {
  runq::scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    runq::channel<int> c(10);
    runq::wait_group group;
    group.add(10);
    std::atomic<int> waiting{0};
    for (int i = 0; i != 10; ++i) {
      runq::go([&]() -> task<> {
        ++waiting;
        (void)co_await c.receive();
        group.done();
      });
    }
    co_await yield_until([&] { return waiting == 10 && s.stats().idle_procs == 1; });
    std::atomic<bool> filled{false};
    std::atomic<bool> seen{false};
    co_await on_both(
        [&] {
          hold_until([&] { return filled.load(); }, "tasks on the other processor");
          EXPECT_THAT(s.stats().local_queues, ElementsAre(0, 9));
          EXPECT_EQ(s.stats().global_queue, 0U);
          seen = true;
        },
        [&] {
          for (int i = 0; i != 10; ++i) EXPECT_EQ(c.try_send(i), runq::channel_result::done);
          filled = true;
          hold_until([&] { return seen.load(); }, "the other processor's look");
        });
    co_await group.wait();
  });
}

TEST(scheduler, L22_a_task_that_yields_goes_behind_all_others) {
  runq::scheduler s({.procs = 1});
  const auto outside = s.attach();
  log_of<std::string> log;
  s.run([&]() -> task<> {
    for (const char* name : {"first", "second"}) {
      outside.go([&log, name] { log.note(name); });
      runq::go([&log, name] { log.note(std::string("own ") + name); });
    }
    co_await runq::yield();
    log.note("yielded");
  });
  EXPECT_THAT(log.all(), ElementsAre("own second", "own first", "first", "second", "yielded"));
}

TEST(scheduler, L22_two_tasks_that_yield_take_turns) {
  log_of<int> log;
  runq::run(
      [&]() -> task<> {
        runq::wait_group group;
        group.add(2);
        for (int i = 0; i != 2; ++i) {
          runq::go([&, i]() -> task<> {
            for (int n = 0; n != 4; ++n) {
              log.note(i);
              co_await runq::yield();
            }
            group.done();
          });
        }
        co_await group.wait();
      },
      {.procs = 1});
  EXPECT_THAT(log.all(), ElementsAre(1, 0, 1, 0, 1, 0, 1, 0));
}

// As a thread outside, the tasks of a chain start each other in the global queue, so that it is never empty.
TEST(scheduler, L22_tasks_that_yield_have_every_122nd_turn_beside_a_global_queue_that_is_never_empty) {
  runq::scheduler s({.procs = 1});
  const auto outside = s.attach();
  constexpr int yielding = 5;
  constexpr int most = 100'000;  // a limit, so that the test fails instead of hanging
  int begun = 0;
  bool stop = false;
  std::function<void()> link = [&] {
    if (++begun != most && !stop) outside.go(link);
  };
  s.run([&]() -> task<> {
    runq::wait_group group;
    group.add(yielding);
    int longest = 0;
    outside.go(link);
    outside.go(link);
    for (int i = 0; i != yielding; ++i) {
      runq::go([&]() -> task<> {
        for (int k = 0; k != 10; ++k) {
          const int before = begun;
          co_await runq::yield();
          longest = std::max(longest, begun - before);
        }
        group.done();
      });
    }
    co_await group.wait();
    stop = true;
    EXPECT_LE(longest, yielding * 122);
    EXPECT_GT(longest, yielding * 61) << "the global queue has every other turn";
  });
}

TEST(scheduler, L22_a_task_that_yields_goes_on_elsewhere_while_its_processor_computes) {
  runq::run(
      [&]() -> task<> {
        for (int i = 0; i != 100; ++i) {
          std::atomic<bool> back{false};
          runq::wait_group group;
          group.add(1);
          runq::go([&] {
            hold_until([&] { return back.load(); }, "the task that has yielded");
            group.done();
          });
          co_await runq::yield();
          back = true;
          co_await group.wait();
        }
      },
      {.procs = 2});
}

TEST(scheduler, L22_tasks_that_have_yielded_count_as_tasks_of_the_global_queue) {
  runq::scheduler s({.procs = 1});
  s.run([&]() -> task<> {
    std::size_t queued = 0;
    for (int i = 0; i != 10; ++i) runq::go([]() -> task<> { co_await runq::yield(); });
    runq::go([&] { queued = s.stats().global_queue; });
    co_await runq::yield();
    EXPECT_EQ(queued, 1U);
    co_await runq::yield();
    EXPECT_EQ(s.stats().global_queue, 0U);
  });
}

TEST(scheduler, X1_tasks_that_yield_begin_a_time_slice_each) {
  runq::scheduler s({.procs = 1});
  s.run([&]() -> task<> {
    const auto before = s.stats().ticks[0];
    for (int i = 0; i != 1000; ++i) co_await runq::yield();
    EXPECT_EQ(s.stats().ticks[0] - before, 1000U);
    EXPECT_GE(s.stats().yields, 1000U);
  });
}

// ---- the life of a task ---------------------------------------------------------------------------------------------

TEST(scheduler, L1_go_returns_at_once_and_the_child_runs_later) {
  runq::run(
      []() -> task<> {
        bool ran = false;
        runq::go([&] { ran = true; });
        EXPECT_FALSE(ran);
        co_await runq::yield();
        EXPECT_TRUE(ran);
      },
      {.procs = 1});
}

TEST(scheduler, L2_tasks_that_have_not_begun_do_not_begin_after_main) {
  std::atomic<int> ran{0};
  runq::run(
      [&] {
        for (int i = 0; i != 10; ++i) runq::go([&] { ++ran; });
      },
      {.procs = 1});
  EXPECT_EQ(ran, 0);
}

struct goes_down {
  explicit goes_down(std::atomic<int>& of) : n(of) { ++n; }
  goes_down(goes_down&& other) noexcept : n(other.n) { ++n; }
  ~goes_down() { --n; }
  std::atomic<int>& n;
};

TEST(scheduler, L2_waiting_tasks_end_with_main_without_running_on) {
  for (const unsigned procs : sched_test::proc_counts) {
    std::atomic<int> alive{0};
    std::atomic<int> begun{0};
    std::atomic<int> went_on{0};
    runq::channel<int> never;
    runq::mutex locked;
    runq::wait_group group;
    const int result = runq::run(
        [&]() -> task<int> {
          group.add(1);
          co_await locked.lock();
          for (int i = 0; i != 40; ++i) {
            runq::go([&, i, in_closure = goes_down(alive)]() -> task<> {
              const goes_down in_frame(alive);
              ++begun;
              switch (i % 4) {
                case 0: (void)co_await never.receive(); break;
                case 1: co_await locked.lock(); break;
                case 2: co_await group.wait(); break;
                default:
                  for (;;) co_await runq::yield();
              }
              ++went_on;
            });
          }
          co_await yield_until([&] { return begun == 40; });
          co_return 7;
        },
        {.procs = procs});
    EXPECT_EQ(result, 7);
    EXPECT_EQ(alive, 0) << "frames and callables are destroyed";
    EXPECT_EQ(went_on, 0);
  }
}

TEST(scheduler, L2_the_frames_of_called_tasks_are_destroyed_with_their_callers) {
  std::atomic<int> alive{0};
  std::atomic<bool> deep{false};
  runq::channel<int> never;
  std::function<task<>(int)> nested = [&](int depth) -> task<> {
    const goes_down here(alive);
    if (depth != 0) co_return co_await nested(depth - 1);
    deep = true;
    (void)co_await never.receive();
  };
  runq::run([&]() -> task<> {
    runq::go(nested(20));
    co_await yield_until([&] { return deep.load(); });
    EXPECT_EQ(alive, 21);
  });
  EXPECT_EQ(alive, 0);
}

// A main task ends while others wait on a channel. The next run can use the same scheduler and the same channel.
TEST(scheduler, L2_a_channel_forgets_the_tasks_that_ended_with_main) {
  runq::scheduler s({.procs = 2});
  runq::channel<int> c;
  runq::mutex m;
  runq::wait_group group;
  for (int i = 0; i != 3; ++i) {
    s.run([&]() -> task<> {
      std::atomic<int> begun{0};
      co_await m.lock();
      group.add(1);
      runq::go([&]() -> task<> {
        ++begun;
        (void)co_await c.receive();
      });
      runq::go([&]() -> task<> {
        std::optional<int> n;
        ++begun;
        (void)co_await runq::select(runq::on_receive(c, n));
      });
      runq::go([&]() -> task<> {
        ++begun;
        co_await m.lock();
      });
      runq::go([&]() -> task<> {
        ++begun;
        co_await group.wait();
      });
      co_await yield_until([&] { return begun == 4 && s.stats().idle_procs == 1; });
    });
    int lost = 7;
    EXPECT_EQ(c.try_send(lost), runq::channel_result::waits) << "a task that has ended has taken the value";
    m.unlock();
    EXPECT_TRUE(m.try_lock()) << "a task that has ended has the mutex";
    m.unlock();
    group.done();
  }
}

/// Calls `f` when the frame that holds it is destroyed.
template <class F>
class at_end {
 public:
  explicit at_end(F f) : f_(std::move(f)) {}
  at_end(const at_end&) = delete;
  at_end& operator=(const at_end&) = delete;
  ~at_end() { f_(); }

 private:
  F f_;
};

// While a run ends, a thread outside may start another run, which is refused, or a task, which begins after the run.
TEST(scheduler, L2_a_run_started_while_a_run_ends_is_refused_and_a_task_begins_after_it) {
  constexpr const char* refused = "runq: run() or wait() was called while another is in progress";
  std::atomic<int> alive{0};
  {
    runq::scheduler s({.procs = 2});
    runq::channel<int> never;
    std::string second;
    std::atomic<int> ran{0};
    std::atomic<bool> begun{false};
    const auto start_one = [&] { s.attach().go([&, here = std::make_shared<goes_down>(alive)] { ++ran; }); };
    s.run([&]() -> task<> {
      runq::go([&]() -> task<> {
        const at_end ends([&] {
          std::thread([&] {
            second = sched_test::misuse_of([&] { s.run([] {}); });
            start_one();
          }).join();
        });
        begun = true;
        (void)co_await never.receive();
      });
      co_await yield_until([&] { return begun && s.stats().idle_procs == 1; });
    });
    EXPECT_EQ(second, refused);
    s.wait();
    EXPECT_EQ(ran, 1) << "it begins after the run";
    EXPECT_EQ(alive, 0);
    s.run([&]() -> task<> {
      runq::go([&]() -> task<> {
        const at_end ends(start_one);
        (void)co_await never.receive();
      });
      co_await runq::yield();
      // The scheduler's destructor destroys this task if it has not ended before.
      s.attach().go([&]() -> task<> {
        const at_end ends(start_one);
        (void)co_await never.receive();
      });
    });
  }
  EXPECT_EQ(alive, 0);
}

// Threads outside start tasks, and wake them, while one run after the other ends. Each task runs once or is destroyed
// once.
TEST(scheduler, L2_threads_outside_start_tasks_while_runs_end) {
  std::atomic<int> alive{0};
  std::atomic<int> ran{0};
  {
    runq::scheduler s({.procs = 2});
    std::atomic<bool> stop{false};
    std::vector<std::thread> outside;
    for (int t = 0; t != 2; ++t) {
      outside.emplace_back([&] {
        const auto here = s.attach();
        while (!stop) {
          here.go([&, counted = std::make_shared<goes_down>(alive)]() -> task<> {
            ++ran;
            co_await runq::yield();
          });
          if (alive > 100) std::this_thread::yield();
        }
      });
    }
    while (alive == 0) std::this_thread::yield();
    for (std::size_t i = 0; i != std::max<std::size_t>(sched_test::rounds(5'000), 200); ++i) {
      const int result = s.run([&]() -> task<int> {
        for (std::size_t k = 0; k != i % 7; ++k) co_await runq::yield();
        co_return 7;
      });
      ASSERT_EQ(result, 7);
    }
    s.run([&]() -> task<> { co_await yield_until([&] { return ran != 0; }); });
    stop = true;
    for (auto& t : outside) t.join();
    s.wait();
    EXPECT_EQ(alive, 0) << "what was kept has run";
  }
  EXPECT_EQ(alive, 0);
}

TEST(scheduler, L3_a_wait_group_sees_ten_greetings_once_each) {
  for (const unsigned procs : sched_test::proc_counts) {
    log_of<int> greetings;
    runq::run(
        [&]() -> task<> {
          runq::wait_group group;
          group.add(10);
          for (int i = 0; i != 10; ++i) {
            runq::go([&, i] {
              greetings.note(i);
              group.done();
            });
          }
          co_await group.wait();
          EXPECT_EQ(greetings.size(), 10U) << "wait() returned too early";
        },
        {.procs = procs});
    EXPECT_THAT(greetings.all(), testing::UnorderedElementsAreArray(from_to(0, 9)));
  }
}

task<> print_number(log_of<int>& log, int from, int to, runq::channel<int>& done) {
  for (int n = from; n <= to; ++n) log.note(n);
  co_await done.send(0);
}

task<> run_print_number(log_of<int>& log) {
  runq::channel<int> done(3);
  runq::go(print_number(log, 1, 3, done));
  runq::go(print_number(log, 4, 6, done));
  (void)co_await done.receive();
  (void)co_await done.receive();
}

TEST(scheduler, L5_print_number_prints_4_5_6_1_2_3_on_one_processor) {
  log_of<int> log;
  runq::run(run_print_number(log), {.procs = 1});
  EXPECT_THAT(log.all(), ElementsAre(4, 5, 6, 1, 2, 3));
}

TEST(scheduler, L5_print_number_prints_each_group_in_order_on_any_number) {
  for (const unsigned procs : {2U, 4U, 16U}) {
    for (std::size_t i = 0; i != sched_test::rounds(2000); ++i) {
      log_of<int> log;
      runq::run(run_print_number(log), {.procs = procs});
      auto all = log.all();
      std::stable_partition(all.begin(), all.end(), [](int n) { return n <= 3; });
      ASSERT_EQ(all, from_to(1, 6));
    }
  }
}

int free_calls = 0;
void free_function() { ++free_calls; }
int counts_and_returns() { return ++free_calls; }
task<> coroutine_function() {
  ++free_calls;
  co_return;
}

TEST(scheduler, L24_go_takes_any_callable) {
  free_calls = 0;
  int captured = 0;
  runq::run(
      [&]() -> task<> {
        runq::go(free_function);
        runq::go(&free_function);
        runq::go(counts_and_returns);
        runq::go(coroutine_function);
        runq::go(coroutine_function());
        const std::function<void()> function = free_function;
        runq::go(function);
        runq::go([&] { ++captured; });
        runq::go([&, only = std::make_unique<int>(2)] { captured += *only; });
        runq::go([&, only = std::make_unique<int>(4)]() -> task<> {
          co_await runq::yield();
          captured += *only;
        });
        runq::go([&, n = 8]() mutable { captured += n--; });
        runq::go([&]() -> task<int> { co_return captured += 16; });
        runq::go(std::bind_front([](int& c, int n) { c += n; }, std::ref(captured), 32));
        co_await yield_until([&] { return captured == 63; });
      },
      {.procs = 1});
  EXPECT_EQ(free_calls, 6);
}

TEST(scheduler, L24_a_callable_lives_as_long_as_its_task_and_is_destroyed_once) {
  for (const unsigned procs : sched_test::proc_counts) {
    std::atomic<int> alive{0};
    runq::scheduler s({.procs = procs});
    s.run([&]() -> task<> {
      runq::wait_group group;
      group.add(100);
      for (int i = 0; i != 100; ++i) {
        runq::go([&, token = goes_down(alive)]() -> task<> {
          for (int n = 0; n != 3; ++n) {
            co_await runq::yield();
            EXPECT_GT(token.n, 0);
          }
          group.done();
        });
      }
      co_await group.wait();
      co_await yield_until([&] { return s.stats().finished == 100; });
      EXPECT_EQ(alive, 0);
    });
  }
}

TEST(scheduler, L24_run_takes_what_go_takes_and_returns_the_result) {
  EXPECT_EQ(runq::run([] { return 1; }), 1);
  EXPECT_EQ(runq::run([]() -> task<int> { co_return 2; }), 2);
  const auto three = []() -> task<int> { co_return 3; };
  EXPECT_EQ(runq::run(three()), 3);
  EXPECT_EQ(*runq::run([]() -> task<std::unique_ptr<int>> { co_return std::make_unique<int>(4); }), 4);
  bool ran = false;
  runq::run([&] { ran = true; });
  EXPECT_TRUE(ran);
  EXPECT_THROW(runq::run([]() -> task<int> {
                 throw std::out_of_range("main");
                 co_return 5;
               }),
               std::out_of_range);
  EXPECT_THROW(runq::run([] { throw 6; }), int);
}

task<int> depth(int n) {
  if (n == 0) co_return 0;
  co_return 1 + co_await depth(n - 1);
}
task<int> throws_at(int n) {
  if (n == 0) throw std::runtime_error("deep");
  co_return co_await throws_at(n - 1);
}

TEST(scheduler, L24_tasks_that_await_tasks_are_calls_as_deep_as_memory_allows) {
  EXPECT_EQ(runq::run(depth(100'000)), 100'000);
  EXPECT_EQ(runq::run([]() -> task<int> {
              int sum = 0;
              for (int i = 0; i != 100'000; ++i) sum += co_await depth(1);
              co_return sum;
            }),
            100'000);
  EXPECT_THROW(runq::run(throws_at(1000)), std::runtime_error);
}

struct throws_at_its_end {
  // NOLINTNEXTLINE(bugprone-exception-escape): that is what it is for
  ~throws_at_its_end() noexcept(false) { throw std::runtime_error("end"); }
};
using counted = std::shared_ptr<int>;
task<counted> returns_and_throws(counted value) {
  const throws_at_its_end end;
  co_return value;
}
task<counted> returns_twice(counted first, counted second) {
  try {
    const throws_at_its_end end;
    co_return first;
  } catch (const std::runtime_error&) {
  }
  co_return second;
}

TEST(scheduler, what_a_destructor_throws_after_co_return_takes_the_place_of_the_result) {
  const counted value = std::make_shared<int>(1);
  const counted other = std::make_shared<int>(2);
  EXPECT_THROW(runq::run(returns_and_throws(value)), std::runtime_error);
  EXPECT_EQ(runq::run(returns_twice(value, other)), other);
  runq::run([&]() -> task<> {
    auto forked = co_await runq::fork(returns_and_throws(value));
    co_await runq::join();
    EXPECT_THROW((void)forked.get(), std::runtime_error);
  });
  EXPECT_EQ(value.use_count(), 1);
  EXPECT_EQ(other.use_count(), 1);
}

// ---- ids, names, states ---------------------------------------------------------------------------------------------

TEST(scheduler, L23_main_is_1_and_ids_grow_by_sixteens_per_processor) {
  log_of<int> ids;
  std::uint64_t main_id = 0;
  runq::run(
      [&]() -> task<> {
        main_id = runq::this_task::id();
        for (int i = 0; i != 40; ++i) runq::go([&] { ids.note(static_cast<int>(runq::this_task::id())); });
        co_await yield_until([&] { return ids.size() == 40; });
      },
      {.procs = 1});
  EXPECT_EQ(main_id, 1U);
  auto seen = ids.all();
  // The newest task runs first, the others in the order in which they were started. This puts the newest last again.
  std::rotate(seen.begin(), seen.begin() + 1, seen.end());
  EXPECT_EQ(seen, from_to(2, 41));
}

TEST(scheduler, L23_no_two_tasks_have_the_same_id_in_any_number_of_runs) {
  runq::scheduler s({.procs = 4});
  const auto outside = s.attach();
  for (int round = 0; round != 20; ++round) {
    log_of<std::uint64_t> ids;
    outside.go([&] { ids.note(runq::this_task::id()); });
    s.run([&]() -> task<> {
      EXPECT_EQ(runq::this_task::id(), 1U);
      ids.note(1);
      for (int i = 0; i != 50; ++i) {
        runq::go([&]() -> task<> {
          ids.note(runq::this_task::id());
          runq::go([&] { ids.note(runq::this_task::id()); });
          co_return;
        });
        if (i % 10 == 0) outside.go([&] { ids.note(runq::this_task::id()); });
      }
      co_await yield_until([&] { return ids.size() == 107; });
    });
    const auto all = ids.all();
    ASSERT_EQ(std::set<std::uint64_t>(all.begin(), all.end()).size(), all.size()) << "in round " << round;
  }
}

TEST(scheduler, L23_the_dump_names_tasks_and_what_they_wait_for) {
  runq::scheduler s({.procs = 1});
  s.run([&]() -> task<> {
    runq::channel<int> empty;
    runq::channel<int> other;
    runq::wait_group group;
    runq::mutex locked;
    group.add(1);
    co_await locked.lock();
    runq::go([&]() -> task<> { (void)co_await empty.receive(); }, "receiver");
    runq::go([&]() -> task<> { co_await other.send(1); }, "sender");
    runq::go(
        [&]() -> task<> {
          std::optional<int> n;
          (void)co_await runq::select(runq::on_receive(empty, n));
        },
        "selecter");
    runq::go([&]() -> task<> { (void)co_await runq::select(); }, "for ever");
    runq::go([&]() -> task<> { co_await group.wait(); }, "waiter");
    runq::go([&]() -> task<> { co_await locked.lock(); }, "locker");
    runq::go([&]() -> task<> { (void)co_await empty.receive(); });
    co_await runq::yield();
    runq::go([] {}, "ready");
    const std::string dump = s.dump();
    EXPECT_THAT(dump, testing::HasSubstr("goroutine 1 [running]:\nmain\n"));
    for (const char* entry : {"chan receive\\]:\nreceiver", "chan send\\]:\nsender", "select\\]:\nselecter",
                              "select \\(no cases\\)\\]:\nfor ever", "semacquire\\]:\nwaiter",
                              "sync.Mutex.Lock\\]:\nlocker", "runnable\\]:\nready"}) {
      EXPECT_THAT(dump, testing::ContainsRegex(std::string("goroutine [0-9]+ \\[") + entry + "\n"));
    }
    EXPECT_EQ(s.stats().spawned - s.stats().finished, 9U);
  });
  EXPECT_EQ(s.dump(), "");
}

TEST(scheduler, L23_a_task_knows_its_name_and_processor) {
  EXPECT_FALSE(runq::this_task::running());
  runq::run(
      []() -> task<> {
        EXPECT_TRUE(runq::this_task::running());
        EXPECT_STREQ(runq::this_task::name(), "main");
        EXPECT_EQ(runq::this_task::processor(), 0U);
        runq::wait_group group;
        group.add(2);
        runq::go(
            [&] {
              EXPECT_STREQ(runq::this_task::name(), "named");
              group.done();
            },
            "named");
        runq::go([&] {
          EXPECT_STREQ(runq::this_task::name(), "");
          group.done();
        });
        co_await group.wait();
        EXPECT_EQ(runq::procs(), 1U);
      },
      {.procs = 1});
}

TEST(scheduler, L12_the_states_of_a_task_have_gos_numbers) {
  using runq::task_status;
  EXPECT_EQ(static_cast<int>(task_status::idle), 0);
  EXPECT_EQ(static_cast<int>(task_status::runnable), 1);
  EXPECT_EQ(static_cast<int>(task_status::running), 2);
  EXPECT_EQ(static_cast<int>(task_status::syscall), 3);
  EXPECT_EQ(static_cast<int>(task_status::waiting), 4);
  EXPECT_EQ(static_cast<int>(task_status::dead), 6);
}

TEST(scheduler, L12_what_a_task_waits_for_has_gos_words) {
  using runq::wait_reason;
  const std::pair<wait_reason, const char*> all[] = {
      {wait_reason::none, ""},
      {wait_reason::chan_receive, "chan receive"},
      {wait_reason::chan_send, "chan send"},
      {wait_reason::chan_receive_nil, "chan receive (nil chan)"},
      {wait_reason::chan_send_nil, "chan send (nil chan)"},
      {wait_reason::select, "select"},
      {wait_reason::select_no_cases, "select (no cases)"},
      {wait_reason::semacquire, "semacquire"},
      {wait_reason::mutex_lock, "sync.Mutex.Lock"},
      {wait_reason::rw_mutex_lock, "sync.RWMutex.Lock"},
      {wait_reason::rw_mutex_lock_shared, "sync.RWMutex.RLock"},
      {wait_reason::cond_wait, "sync.Cond.Wait"},
      {wait_reason::join, "join"},
      {wait_reason::sleep, "sleep"},
      {wait_reason::io_wait, "IO wait"},
      {wait_reason::blocking_call, "blocking call"},
  };
  for (const auto& [reason, words] : all) EXPECT_STREQ(runq::to_string(reason), words);
}

// ---- processors and threads -----------------------------------------------------------------------------------------

TEST(scheduler, L9_by_default_there_are_as_many_processors_as_cpus) {
  ::unsetenv("RUNQ_PROCS");
  cpu_set_t cpus;
  ASSERT_EQ(sched_getaffinity(0, sizeof cpus, &cpus), 0);
  EXPECT_EQ(runq::default_procs(), static_cast<unsigned>(CPU_COUNT(&cpus)));
  EXPECT_EQ(runq::scheduler().procs(), runq::default_procs());
}

TEST(scheduler, L9_by_default_only_the_cpus_of_the_calling_thread_count) {
  ::unsetenv("RUNQ_PROCS");
  unsigned seen = 0;
  std::thread([&] {
    cpu_set_t all;
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu != CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &all)) continue;
      CPU_SET(cpu, &one);
      break;
    }
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    seen = runq::default_procs();
  }).join();
  EXPECT_EQ(seen, 1U);
}

TEST(scheduler, L9_the_environment_sets_the_number_of_processors) {
  ::setenv("RUNQ_PROCS", "3", 1);
  EXPECT_EQ(runq::default_procs(), 3U);
  EXPECT_EQ(runq::scheduler().procs(), 3U);
  EXPECT_EQ(runq::scheduler({.procs = 2}).procs(), 2U) << "options win";
  ::unsetenv("RUNQ_PROCS");
}

TEST(scheduler, L9_set_procs_returns_the_former_number) {
  runq::scheduler s({.procs = 2});
  EXPECT_EQ(s.set_procs(5), 2U);
  EXPECT_EQ(s.set_procs(5), 5U);
  s.run([] {
    EXPECT_EQ(runq::procs(), 5U);
    EXPECT_EQ(runq::set_procs(1), 5U);
    EXPECT_EQ(runq::procs(), 1U);
  });
  EXPECT_EQ(s.procs(), 1U) << "kept for the next run";
}

TEST(scheduler, L10_at_most_n_tasks_run_at_once) {
  for (const unsigned procs : {1U, 2U, 4U}) {
    std::atomic<unsigned> running{0};
    std::atomic<unsigned> most{0};
    runq::run(
        [&]() -> task<> {
          runq::wait_group group;
          group.add(64);
          for (int i = 0; i != 64; ++i) {
            runq::go([&]() -> task<> {
              for (std::size_t n = 0; n != sched_test::rounds(2000); ++n) {
                const unsigned now = running.fetch_add(1) + 1;
                unsigned seen = most.load();
                while (now > seen && !most.compare_exchange_weak(seen, now)) {
                }
                for (int spin = 0; spin != 50; ++spin) runq::std_atomics::pause();
                running.fetch_sub(1);
                co_await runq::yield();
              }
              group.done();
            });
          }
          co_await group.wait();
        },
        {.procs = procs});
    EXPECT_LE(most, procs);
    EXPECT_GE(most, 1U);
  }
}

TEST(scheduler, L11_a_surplus_processors_tasks_move_to_the_head_of_the_global_queue_in_order) {
  runq::scheduler s({.procs = 2});
  const auto outside = s.attach();
  log_of<int> log;
  s.run([&]() -> task<> {
    std::atomic<bool> filled{false};
    co_await on_both(
        [&] {
          hold_until([&] { return filled.load(); }, "tasks on the other processor");
          outside.go([&log] { log.note(100); });
          outside.go([&log] { log.note(101); });
          EXPECT_EQ(runq::set_procs(1), 2U);
          hold_until([&] { return s.stats().global_queue >= 8; }, "the other's tasks in the global queue");
        },
        [&] {
          for (int i = 1; i <= 6; ++i) runq::go([&log, i] { log.note(i); });
          filled = true;
          hold_until([&] { return runq::procs() == 1; }, "fewer processors");
        });
    co_await yield_until([&] { return log.size() == 8; });
  });
  EXPECT_THAT(log.all(), ElementsAre(6, 1, 2, 3, 4, 5, 100, 101)) << "as they would have run";
}

/// Runs n tasks that pass a token around without giving up their processors: they end only if all run at the same time.
task<> all_at_once(unsigned n, unsigned laps) {
  std::atomic<unsigned> turn{0};
  runq::wait_group group;
  group.add(n);
  for (unsigned i = 0; i != n; ++i) {
    runq::go([&, i] {
      sched_test::pass_tokens(turn, i, n, laps);
      group.done();
    });
  }
  co_await group.wait();
}

TEST(scheduler, L11_new_processors_are_used_at_once) {
  runq::scheduler s({.procs = 4, .idle_thread_life = std::chrono::hours(1)});  // however slow the test is
  s.run([&]() -> task<> {
    for (int i = 0; i != 10; ++i) {
      runq::set_procs(1);
      co_await yield_until([] { return runq::this_task::processor() == 0; });
      runq::set_procs(4);
      co_await all_at_once(4, 5);
    }
    EXPECT_EQ(s.stats().machines_started, 4U);
  });
}

// A thread changes the number of processors at any moment of a run's end. The new number must hold in the next run.
TEST(scheduler, L11_what_is_set_while_a_run_ends_holds_in_the_next_one) {
  runq::scheduler s({.procs = 2});
  for (std::size_t i = 0; i != sched_test::rounds(2'000); ++i) {
    const unsigned wanted = i % 2 == 0 ? 4 : 1;
    std::atomic<bool> ending{false};
    std::thread resizer([&] {
      while (!ending) std::this_thread::yield();
      s.set_procs(wanted);
    });
    s.run([&] {
      for (int k = 0; k != 4; ++k) runq::go([]() -> task<> { co_await runq::yield(); });
      ending = true;
    });
    resizer.join();
    ASSERT_EQ(s.procs(), wanted);
    s.run([&]() -> task<> {
      EXPECT_EQ(runq::procs(), wanted);
      co_await all_at_once(wanted, 1);
    });
  }
}

TEST(scheduler, L11_a_processor_that_was_given_up_runs_one_more_task_at_most) {
  runq::run(
      []() -> task<> {
        co_await all_at_once(4, 1);
        runq::set_procs(2);
        runq::wait_group group;
        group.add(200);
        std::atomic<int> elsewhere{0};
        // Main may be on a surplus processor: it is not after a yield.
        co_await runq::yield();
        for (int i = 0; i != 200; ++i) {
          runq::go([&]() -> task<> {
            co_await runq::yield();
            if (runq::this_task::processor() >= 2) ++elsewhere;
            group.done();
          });
        }
        co_await group.wait();
        // A machine that had asked whether its processor is surplus just before, and was slow since, takes a task.
        EXPECT_LE(elsewhere, 2);
      },
      {.procs = 4});
}

TEST(scheduler, L18_as_many_tasks_as_processors_run_at_the_same_time) {
  for (int i = 0; i != 10; ++i) runq::run(all_at_once(4, 50), {.procs = 4});
}

TEST(scheduler, L20_there_are_threads_for_all_processors_and_no_more) {
  runq::scheduler s({.procs = 4});
  s.run([&]() -> task<> {
    co_await all_at_once(4, 10);
    EXPECT_EQ(s.stats().machines_started, 4U);
  });
}

TEST(scheduler, L20_one_processor_needs_one_thread) {
  runq::scheduler s({.procs = 1});
  s.run([&]() -> task<> {
    for (int i = 0; i != 1000; ++i) runq::go([] {});
    for (int i = 0; i != 1000; ++i) co_await runq::yield();
    EXPECT_EQ(s.stats().machines_started, 1U);
  });
}

TEST(scheduler, L21_threads_that_sleep_are_used_again) {
  runq::scheduler s({.procs = 4, .idle_thread_life = std::chrono::hours(1)});  // however slow the test is
  const auto outside = s.attach();
  s.run([&]() -> task<> {
    runq::channel<int> c;
    runq::wait_group group;
    for (int i = 0; i != 1000; ++i) {
      group.add(4);
      for (int n = 0; n != 4; ++n) {
        outside.go([&] { group.done(); });
      }
      co_await group.wait();
    }
    EXPECT_LE(s.stats().machines_started, 4U);
  });
}

/// Waits until the scheduler rests: for 50 ms no machine spins, wakes up, goes to sleep or runs a task. False: that did
/// not happen within `patience`.
bool comes_to_rest(const runq::scheduler& s) {
  return comes_true([&] {
    const auto before = s.stats();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const auto after = s.stats();
    return after.idle_procs == after.procs && after.spinning == 0 && after.parks == before.parks &&
           after.useless_wakes == before.useless_wakes && after.ticks == before.ticks;
  });
}

// While all tasks wait, no machine spins and no machine wakes up.
TEST(scheduler, L16_all_processors_are_idle_while_all_tasks_wait) {
  runq::scheduler s({.procs = 4});
  const auto outside = s.attach();
  runq::channel<int> go_on;
  std::thread observer([&] {
    EXPECT_TRUE(comes_true([&] { return s.stats().spawned == 4; }));
    EXPECT_TRUE(comes_to_rest(s));
    const auto quiet = s.stats();
    EXPECT_EQ(quiet.global_queue, 0U);
    EXPECT_THAT(quiet.local_queues, testing::Each(0U));
    for (int i = 0; i != 4; ++i) {
      EXPECT_TRUE(comes_true([&] { return go_on.try_send(i) == runq::channel_result::done; }));
    }
  });
  s.run([&]() -> task<> {
    runq::wait_group group;
    group.add(3);
    for (int i = 0; i != 3; ++i) {
      runq::go([&]() -> task<> {
        (void)co_await go_on.receive();
        group.done();
      });
    }
    (void)co_await go_on.receive();
    co_await group.wait();
  });
  observer.join();
}

TEST(scheduler, L15_machines_sleep_while_there_is_nothing_to_do) {
  runq::scheduler s({.procs = 4});
  const auto outside = s.attach();
  s.run(all_at_once(4, 5));
  outside.go([] {});
  s.wait();
  EXPECT_TRUE(comes_to_rest(s));
  EXPECT_TRUE(!sched_test::has_only_its_own_threads || sched_test::other_threads_come_to_rest());
}

TEST(scheduler, L13_the_counts_of_machines_agree) {
  runq::scheduler s({.procs = 4});
  s.run([&]() -> task<> {
    co_await all_at_once(4, 5);
    const auto now = s.stats();
    EXPECT_GE(now.machines, 1U);
    EXPECT_LE(now.machines, now.machines_started);
    EXPECT_LE(now.spinning, 4U);
  });
  EXPECT_LE(s.stats().machines, 1U);
}

TEST(scheduler, L14_a_processor_is_idle_or_held) {
  runq::scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    std::atomic<bool> seen{false};
    co_await on_both(
        [&] {
          EXPECT_EQ(s.stats().idle_procs, 0U);
          seen = true;
        },
        [&] { hold_until([&] { return seen.load(); }, "the other processor's look"); });
    co_await yield_until([&] { return s.stats().idle_procs == 1; });
    EXPECT_EQ(s.stats().procs, 2U);
  });
}

TEST(scheduler, L9_a_scheduler_of_1024_processors_starts) {
  EXPECT_EQ(runq::run([] { return runq::procs(); }, {.procs = 1024}), 1024U);
}

// ---- from outside ---------------------------------------------------------------------------------------------------

TEST(scheduler, L3_wait_returns_when_no_task_is_left) {
  for (const unsigned procs : sched_test::proc_counts) {
    runq::scheduler s({.procs = procs});
    s.wait();
    const auto outside = s.attach();
    std::atomic<int> ended{0};
    for (int round = 1; round != 20; ++round) {
      for (int i = 0; i != 10; ++i) {
        outside.go([&]() -> task<> {
          co_await runq::yield();
          runq::go([&] { ++ended; });
        });
      }
      s.wait();
      ASSERT_EQ(ended, 10 * round);
    }
    EXPECT_EQ(s.stats().spawned, s.stats().finished);
  }
}

TEST(scheduler, L2_a_scheduler_runs_one_main_task_after_the_other) {
  runq::scheduler s({.procs = 2});
  for (int i = 0; i != 200; ++i) {
    ASSERT_EQ(s.run([i]() -> task<int> {
      runq::go([]() -> task<> {
        for (;;) co_await runq::yield();
      });
      co_await runq::yield();
      co_return i;
    }),
              i);
  }
}

TEST(scheduler, L2_a_scheduler_that_is_destroyed_destroys_its_tasks) {
  std::atomic<int> alive{0};
  std::atomic<int> begun{0};
  runq::channel<int> never;
  {
    runq::scheduler s({.procs = 2});
    {
      const auto outside = s.attach();
      for (int i = 0; i != 10; ++i) {
        outside.go([&, token = goes_down(alive)]() -> task<> {
          ++begun;
          (void)co_await never.receive();
        });
      }
      EXPECT_TRUE(comes_true([&] { return begun == 10; }));
    }
  }
  EXPECT_EQ(alive, 0);
}

TEST(scheduler, L24_two_schedulers_hand_values_to_each_other) {
  runq::scheduler a({.procs = 2});
  runq::scheduler b({.procs = 2});
  const auto keep_a = a.attach();
  const auto keep_b = b.attach();
  runq::channel<int> there;
  runq::channel<int> back;
  int sum = 0;
  std::thread other([&] {
    b.run([&]() -> task<> {
      while (auto n = co_await there.receive()) co_await back.send(2 * *n);
    });
  });
  a.run([&]() -> task<> {
    for (int i = 0; i != 1000; ++i) {
      co_await there.send(i);
      sum += *co_await back.receive();
    }
    there.close();
  });
  other.join();
  EXPECT_EQ(sum, 999'000);
}

// A thread that is started there cannot begin on another CPU.
TEST(scheduler, machines_keep_to_the_only_cpu_that_the_program_may_use) {
  std::thread([] {
    cpu_set_t all;
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (std::size_t cpu = 0; CPU_COUNT(&one) == 0; ++cpu) {
      if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
    }
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    std::atomic<int> looking{0};
    std::array<bool, 2> keep{};
    const auto looks = [&](unsigned self) {
      ++looking;
      hold_until([&] { return looking == 2; }, "the other thread");
      cpu_set_t mine;
      keep[self] = sched_getaffinity(0, sizeof mine, &mine) == 0 && CPU_EQUAL(&mine, &one) != 0;
    };
    runq::run(
        [&]() -> task<> {
          auto other = runq::spawn([&] { looks(1); });
          looks(0);
          co_await other;
        },
        {.procs = 2});
    EXPECT_TRUE(keep[0] && keep[1]);
  }).join();
}

// A thread begins on another CPU than the one that starts it, and may run on all of them soon afterwards.
TEST(scheduler, machines_may_run_on_all_cpus_that_the_program_may_use) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  std::atomic<int> looking{0};
  const auto looks = [&] {
    ++looking;
    hold_until([&] { return looking == 2; }, "the other thread");
    const auto may_run_anywhere = [&] {
      cpu_set_t mine;
      return sched_getaffinity(0, sizeof mine, &mine) == 0 && CPU_EQUAL(&mine, &all) != 0;
    };
    hold_until(may_run_anywhere, "the thread has all CPUs");
  };
  runq::run(
      [&]() -> task<> {
        auto other = runq::spawn([&] { looks(); });
        looks();
        co_await other;
      },
      {.procs = 2});
}

}  // namespace
