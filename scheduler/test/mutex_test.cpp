// SPDX-License-Identifier: MIT
// mutex: mutual exclusion, first come first served.
#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runq/detail/core.hpp"
#include "support.hpp"

namespace {

using runq::mutex;
using runq::task;
using sched_test::rounds;

constexpr const char* not_locked = "sync: unlock of unlocked mutex";

TEST(mutex, only_one_task_at_a_time_holds_it) {
  for (const unsigned procs : sched_test::proc_counts) {
    runq::run(
        []() -> task<> {
          const int n = static_cast<int>(rounds(10'000));
          mutex m;
          int count = 0;  // plain: the mutex protects it
          runq::wait_group group;
          group.add(8);
          for (int i = 0; i != 8; ++i) {
            runq::go([&]() -> task<> {
              for (int k = 0; k != n; ++k) {
                co_await m.lock();
                const int seen = count;
                if (k % 16 == 0) co_await runq::yield();
                count = seen + 1;
                m.unlock();
              }
              group.done();
            });
          }
          co_await group.wait();
          EXPECT_EQ(count, 8 * n);
        },
        {.procs = procs});
  }
}

TEST(mutex, waiting_tasks_get_it_in_the_order_in_which_they_came) {
  sched_test::log_of<int> log;
  runq::run(
      [&]() -> task<> {
        mutex m;
        co_await m.lock();
        for (int i = 0; i != 10; ++i) {
          runq::go([&, i]() -> task<> {
            co_await m.lock();
            log.note(i);
            m.unlock();
          });
          co_await runq::yield();
        }
        m.unlock();
        EXPECT_FALSE(m.try_lock()) << "it was handed over";
        co_await sched_test::yield_until([&] { return log.size() == 10; });
        EXPECT_TRUE(m.try_lock());
        m.unlock();
      },
      {.procs = 1});
  EXPECT_THAT(log.all(), testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST(mutex, a_lock_may_be_handed_on_to_a_task_that_ends_it) {
  for (const unsigned procs : sched_test::proc_counts) {
    const auto main = []() -> task<> {
      runq::mutex m;
      auto mine = co_await m.scoped_lock();
      std::atomic<bool> tried{false};
      auto other = runq::spawn([handed_on = std::move(mine), &tried]() -> task<> {
        co_await sched_test::yield_until([&] { return tried.load(); });
      });
      EXPECT_FALSE(m.try_lock());
      tried = true;
      const auto next = co_await m.scoped_lock();
      co_await other;
    };
    runq::run(main, {.procs = procs});
  }
}

TEST(mutex, a_guard_unlocks_at_its_end) {
  runq::run([]() -> task<> {
    mutex m;
    {
      const auto guard = co_await m.scoped_lock();
      EXPECT_FALSE(m.try_lock());
    }
    EXPECT_TRUE(m.try_lock());
    m.unlock();
    {
      auto guard = co_await m.scoped_lock();
      const auto other = std::move(guard);
    }
    EXPECT_TRUE(m.try_lock());
    m.unlock();
  });
}

TEST(mutex, unlocking_an_unlocked_mutex_is_misuse) {
  mutex m;
  EXPECT_EQ(sched_test::misuse_of([&] { m.unlock(); }), not_locked);
  EXPECT_TRUE(m.try_lock());
  m.unlock();
  EXPECT_EQ(sched_test::misuse_of([&] { m.unlock(); }), not_locked);
}

TEST(mutex, outside_a_scheduler_a_lock_that_has_to_wait_throws) {
  mutex m;
  std::string text = "(nothing)";
  const auto lock = [](mutex& on, std::string& what) -> sched_test::by_hand {
    try {
      co_await on.lock();
    } catch (const runq::misuse& error) {
      what = error.what();
    }
  };
  lock(m, text);
  EXPECT_EQ(text, "(nothing)");
  lock(m, text);
  EXPECT_EQ(text, "runq: only a task can wait; this thread runs none, or is in a blocking_section");
}

// A task that locks the mutex over and over does not keep other tasks out.
TEST(mutex, X9_a_task_that_waits_beside_a_hog_gets_it_at_the_next_unlock) {
  runq::run(
      []() -> task<> {
        mutex m;
        std::atomic<bool> stop{false};
        std::atomic<int> turns{0};
        runq::wait_group group;
        group.add(1);
        runq::go([&]() -> task<> {
          while (!stop) {
            co_await m.lock();
            ++turns;
            co_await runq::yield();
            m.unlock();
          }
          group.done();
        });
        for (int i = 0; i != 100; ++i) {
          const int before = turns;
          co_await m.lock();
          EXPECT_LE(turns - before, 3) << "the hog overtook a task that waited";
          m.unlock();
          co_await runq::yield();
        }
        stop = true;
        co_await group.wait();
      },
      {.procs = 1});
}

// ---- tasks that wait when their run ends ----------------------------------------------------------------------------

TEST(mutex, a_task_that_ended_with_main_does_not_get_it) {
  runq::scheduler s({.procs = 1});
  mutex m;
  for (int i = 0; i != 3; ++i) {
    s.run([&]() -> task<> {
      EXPECT_TRUE(m.try_lock());
      for (int k = 0; k != 3; ++k) runq::go([&]() -> task<> { co_await m.lock(); });
      co_await runq::yield();
    });
    EXPECT_FALSE(m.try_lock()) << "the main task has not unlocked it";
    m.unlock();
    EXPECT_TRUE(m.try_lock()) << "a task that has ended has the mutex";
    m.unlock();
  }
}

TEST(mutex, a_task_that_was_handed_it_and_did_not_go_on_gives_it_back) {
  for (const bool mutex_stays : {true, false}) {
    runq::scheduler s({.procs = 1});
    auto m = std::make_unique<mutex>();
    int went_on = 0;
    s.run([&]() -> task<> {
      EXPECT_TRUE(m->try_lock());
      for (int k = 0; k != 3; ++k) {
        runq::go([&]() -> task<> {
          co_await m->lock();
          ++went_on;
        });
      }
      co_await runq::yield();
      m->unlock();
      EXPECT_FALSE(m->try_lock()) << "it was not handed over";
      if (!mutex_stays) m.reset();
    });
    EXPECT_EQ(went_on, 0);
    if (mutex_stays) {
      EXPECT_TRUE(m->try_lock()) << "a task that has ended has the mutex";
    }
  }
}

TEST(mutex, a_task_that_was_handed_it_while_it_waited_with_a_token_gives_it_back) {
  const std::stop_source source;
  mutex m;
  bool went_on = false;
  runq::run(
      [&]() -> task<> {
        EXPECT_TRUE(m.try_lock());
        runq::go([&]() -> task<> {
          co_await m.lock(source.get_token());
          went_on = true;
        });
        co_await runq::yield();
        m.unlock();
        EXPECT_FALSE(m.try_lock()) << "it was not handed over";
      },
      {.procs = 1});
  EXPECT_FALSE(went_on);
  EXPECT_TRUE(m.try_lock()) << "a task that has ended has the mutex";
}

TEST(mutex, a_task_that_got_it_and_yielded_and_did_not_go_on_gives_it_back) {
  for (const bool mutex_stays : {true, false}) {
    runq::scheduler s({.procs = 1});
    auto m = std::make_unique<mutex>();
    s.run([&]() -> task<> {
      runq::go([&]() -> task<> {
        for (;;) {
          co_await m->lock();
          m->unlock();
        }
      });
      co_await runq::yield();
      EXPECT_FALSE(m->try_lock()) << "the other task yielded without the mutex";
      if (!mutex_stays) m.reset();
    });
    if (mutex_stays) {
      EXPECT_TRUE(m->try_lock()) << "a task that has ended has the mutex";
    }
  }
}

TEST(mutex, a_task_that_ended_with_main_while_it_held_it_gives_it_back_by_its_guard_only) {
  for (const bool guarded : {true, false}) {
    runq::scheduler s({.procs = 1});
    mutex m;
    runq::channel<int> never;
    s.run([&]() -> task<> {
      runq::go([&]() -> task<> {
        if (guarded) {
          const auto guard = co_await m.scoped_lock();
          (void)co_await never.receive();
        } else {
          co_await m.lock();
          (void)co_await never.receive();
        }
      });
      co_await runq::yield();
      EXPECT_FALSE(m.try_lock());
      runq::go([&]() -> task<> { co_await m.lock(); });
      co_await runq::yield();
    });
    EXPECT_EQ(m.try_lock(), guarded);
  }
}

TEST(mutex, a_mutex_may_be_destroyed_after_a_task_that_got_it_by_waiting_has_ended) {
  for (const bool with_token : {false, true}) {
    const std::stop_source source;
    runq::run(
        [&]() -> task<> {
          auto m = std::make_unique<mutex>();
          EXPECT_TRUE(m->try_lock());
          runq::go([&m = *m, with_token, token = source.get_token()]() -> task<> {
            if (with_token) {
              co_await m.lock(token);
            } else {
              co_await m.lock();
            }
          });
          co_await runq::yield();
          m->unlock();
          co_await runq::yield();
          EXPECT_FALSE(m->try_lock()) << "the task that had the mutex ended without giving it back";
          m.reset();
        },
        {.procs = 1});
  }
}

// The tasks that have main's mutex are destroyed after main's variables.
TEST(mutex, a_guard_whose_run_ends_unlocks_nothing_when_the_mutex_was_destroyed_before) {
  for (const bool moved : {false, true}) {
    for (const bool waited : {false, true}) {
      const int result = runq::run(
          [&]() -> task<int> {
            mutex m;
            runq::condition_variable changed;
            runq::channel<int> never;
            bool has_it = false;
            const auto holder = [&]() -> task<> {
              auto first = co_await m.scoped_lock();
              if (waited) co_await changed.wait(first);
              std::optional<mutex::guard> second;
              if (moved) second.emplace(std::move(first));
              has_it = true;
              (void)co_await never.receive();
            };
            runq::go(holder);
            co_await sched_test::yield_until([&] {
              changed.notify_one();
              return has_it;
            });
            EXPECT_FALSE(m.try_lock());
            co_return 7;
          },
          {.procs = 1});
      EXPECT_EQ(result, 7);
    }
  }
}

TEST(mutex, a_guard_that_ends_after_its_mutex_says_so) {
  const auto outlives = [](bool moved) -> task<> {
    auto m = std::make_unique<mutex>();
    auto guard = co_await m->scoped_lock();
    if (!moved) {
      m.reset();
      co_return;
    }
    auto second = std::move(guard);
    m.reset();
    const auto third = std::move(second);
  };
  for (const bool moved : {false, true}) {
    // Main goes on afterwards: the run must not end before the guard does.
    RUNQ_EXPECT_STATUS_2(runq::run([&]() -> task<> {
                           co_await outlives(moved);
                           co_await runq::yield();
                         }),
                         "^panic: runq: a mutex was destroyed while a task had it by scoped_lock\\(\\).*\n\n"
                         "goroutine 1 \\[running\\]:\n");
  }
}

// Such a thread has no task that the message could name.
TEST(mutex, a_guard_that_a_plain_thread_destroys_after_its_mutex_says_so) {
  RUNQ_EXPECT_STATUS_2(runq::run([]() -> task<> {
                         auto m = std::make_unique<mutex>();
                         std::optional<mutex::guard> guard(co_await m->scoped_lock());
                         m.reset();
                         std::thread([&] { guard.reset(); }).join();
                       }),
                       "^panic: runq: a mutex was destroyed while a task had it by scoped_lock\\(\\)[^\n]*\n$");
}

// A task that does not wait goes on beside main's end. Its run ends anyway.
TEST(mutex, a_guard_may_end_after_its_mutex_when_main_has_ended) {
  std::atomic<bool> ended{false};
  runq::run(
      [&]() -> task<> {
        std::atomic<bool> holds{false};
        runq::go([&ended, &holds]() -> task<> {
          auto m = std::make_unique<mutex>();
          {
            const auto guard = co_await m->scoped_lock();
            const runq::detail::core& home = runq::detail::this_machine()->home;
            holds = true;
            sched_test::hold_until([&] { return home.ends(); }, "main has ended");
            m.reset();
          }
          ended = true;
        });
        sched_test::hold_until([&] { return holds.load(); }, "the task has the mutex");
        co_return;
      },
      {.procs = 2});
  EXPECT_TRUE(ended);
}

// A thread outside locks and unlocks the mutex while one run after the other ends, and gives its processor to that run.
TEST(mutex, a_thread_outside_meets_tasks_that_end_with_main) {
  runq::scheduler s({.procs = 2});
  const auto outside = s.attach();
  mutex m;
  std::atomic<bool> stop{false};
  std::atomic<int> inside{0};
  std::thread other([&] {
    while (!stop) {
      if (m.try_lock()) {
        EXPECT_EQ(++inside, 1);
        --inside;
        m.unlock();
      }
      std::this_thread::yield();
    }
  });
  for (std::size_t i = 0; i != std::max<std::size_t>(rounds(1'000), 200); ++i) {
    s.run([&]() -> task<> {
      for (int k = 0; k != 4; ++k) {
        runq::go([&]() -> task<> {
          for (;;) {
            const auto guard = co_await m.scoped_lock();
            EXPECT_EQ(++inside, 1);
            --inside;
          }
        });
      }
      for (std::size_t k = 0; k != i % 7; ++k) co_await runq::yield();
    });
  }
  stop = true;
  other.join();
  EXPECT_TRUE(m.try_lock()) << "a task that has ended has the mutex";
}

}  // namespace
