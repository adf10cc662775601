// SPDX-License-Identifier: MIT
// semaphore, shared_mutex, condition_variable, once, latch and barrier. Rows SC8 to SC12.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "support.hpp"

namespace {

using namespace std::chrono_literals;
using runq::task;
using sched_test::misuse_of;
using sched_test::rounds;
using sched_test::yield_until;

class synchronisation : public sched_test::alarmed {
 protected:
  template <class F>
  static void on_any_number_of_processors(F&& f) {
    for (const unsigned procs : sched_test::proc_counts) runq::run(f, {.procs = procs});
  }
};
using semaphores = synchronisation;
using shared_mutexes = synchronisation;
using condition_variables = synchronisation;
using onces = synchronisation;
using latches = synchronisation;
using barriers = synchronisation;

task<> some_yields(int n = 10) {
  for (int i = 0; i != n; ++i) co_await runq::yield();
}

/// Whether a stop request ends the wait of the task that `make(token)` returns.
template <class Make>
task<bool> can_be_called_off(Make& make) {
  std::stop_source source;
  auto waits = runq::spawn(make(source.get_token()));
  co_await some_yields();
  source.request_stop();
  bool cancelled = false;
  try {
    co_await waits;
  } catch (const runq::cancelled&) {
    cancelled = true;
  }
  co_return cancelled;
}

// -- semaphore --

TEST_F(semaphores, SC8_at_most_as_many_tasks_as_units_are_inside) {
  on_any_number_of_processors([]() -> task<> {
    runq::semaphore units(3);
    std::atomic<int> inside = 0;
    std::atomic<int> most = 0;
    co_await runq::with_scope([&](runq::scope& s) -> task<> {
      for (int i = 0; i != 10; ++i) {
        s.go([&]() -> task<> {
          for (std::size_t k = 0; k != rounds(1000); ++k) {
            const auto held = co_await units.scoped_acquire();
            const int now = ++inside;
            int seen = most;
            while (seen < now && !most.compare_exchange_weak(seen, now)) continue;
            if (k % 16 == 0) co_await runq::yield();
            --inside;
          }
        });
      }
      co_return;
    });
    EXPECT_LE(most, 3);
    EXPECT_TRUE(units.try_acquire(3));
    EXPECT_FALSE(units.try_acquire());
  });
}

TEST_F(semaphores, SC8_a_task_that_wants_many_units_is_not_overtaken) {
  sched_test::log_of<int> log;
  runq::run(
      [&]() -> task<> {
        runq::semaphore units(2);
        EXPECT_TRUE(units.try_acquire());
        const auto take = [&](std::int64_t n, int who) -> task<> {
          co_await units.acquire(n);
          log.note(who);
          units.release(n);
        };
        co_await runq::with_scope([&](runq::scope& s) -> task<> {
          for (const auto& [n, who] : {std::pair(2, 1), std::pair(1, 2), std::pair(2, 3), std::pair(1, 4)}) {
            s.go(take(n, who));
            co_await some_yields(2);
          }
          EXPECT_FALSE(units.try_acquire()) << "a task that does not wait overtakes";
          units.release();
        });
      },
      {.procs = 1});
  EXPECT_THAT(log.all(), testing::ElementsAre(1, 2, 3, 4));
}

TEST_F(semaphores, says_how_many_units_are_free_also_while_a_task_waits_for_more) {
  on_any_number_of_processors([]() -> task<> {
    runq::semaphore units(5);
    EXPECT_EQ(units.available_approx(), 5);
    EXPECT_TRUE(units.try_acquire(3));
    EXPECT_EQ(units.available_approx(), 2);
    auto wants_all = runq::spawn([&]() -> task<> { co_await units.acquire(5); });
    co_await some_yields(20);
    EXPECT_EQ(units.available_approx(), 2);
    units.release(3);
    co_await wants_all;
    EXPECT_EQ(units.available_approx(), 0);
    units.release(5);
    EXPECT_EQ(units.available_approx(), 5);
  });
}

TEST_F(semaphores, a_release_may_come_first_and_from_anybody) {
  on_any_number_of_processors([]() -> task<> {
    auto ready = std::make_unique<runq::semaphore>(0);
    for (int i = 0; i != 3; ++i) runq::go([&ready] { ready->release(); });
    co_await ready->acquire(3);
    ready.reset();
  });
}

TEST_F(semaphores, SC8_a_request_ends_the_wait_and_the_tasks_behind_go_on) {
  on_any_number_of_processors([]() -> task<> {
    runq::semaphore units(1);
    const auto wants_two = [&](std::stop_token stop) -> task<> { co_await units.acquire(std::move(stop), 2); };
    EXPECT_TRUE(co_await can_be_called_off(wants_two));
    const auto scoped = [&](std::stop_token stop) -> task<> {
      const auto held = co_await units.scoped_acquire(std::move(stop), 2);
    };
    EXPECT_TRUE(co_await can_be_called_off(scoped));
    std::stop_source source;
    auto first = runq::spawn(wants_two(source.get_token()));
    co_await some_yields();
    auto behind = runq::spawn([&]() -> task<> { co_await units.acquire(); });
    co_await some_yields();
    source.request_stop();
    co_await behind;
    EXPECT_FALSE(units.try_acquire());
  });
}

TEST_F(semaphores, requests_and_releases_at_the_same_time_lose_no_unit) {
  on_any_number_of_processors([]() -> task<> {
    for (std::size_t round = 0; round != rounds(2000); ++round) {
      runq::semaphore units(0);
      std::stop_source source;
      std::atomic<int> with = 0;
      co_await runq::with_scope([&](runq::scope& s) -> task<> {
        for (int i = 0; i != 3; ++i) {
          s.go([&]() -> task<> {
            try {
              co_await units.acquire(source.get_token());
              ++with;
            } catch (const runq::cancelled&) {
            }
          });
        }
        s.go([&] { units.release(2); });
        s.go([&] { source.request_stop(); });
        co_return;
      });
      EXPECT_LE(with, 2);
      EXPECT_EQ(units.try_acquire(2 - with == 0 ? 1 : 2 - with), with != 2);
    }
  });
}

TEST_F(semaphores, a_task_that_was_given_units_and_did_not_go_on_gives_them_all_back) {
  runq::semaphore units(0);
  bool went_on = false;
  runq::run(
      [&]() -> task<> {
        runq::go([&]() -> task<> {
          co_await units.acquire(3);
          went_on = true;
        });
        co_await runq::yield();
        units.release(3);
        EXPECT_EQ(units.available_approx(), 0) << "they were not given";
      },
      {.procs = 1});
  EXPECT_FALSE(went_on);
  EXPECT_EQ(units.available_approx(), 3);
}

TEST_F(semaphores, after_a_request_no_unit_is_taken) {
  runq::run([]() -> task<> {
    runq::semaphore units(1);
    std::stop_source source;
    source.request_stop();
    bool cancelled = false;
    try {
      co_await units.acquire(source.get_token());
    } catch (const runq::cancelled&) {
      cancelled = true;
    }
    EXPECT_TRUE(cancelled);
    EXPECT_EQ(units.available_approx(), 1);
  });
}

TEST_F(semaphores, misuse_is_refused) {
  runq::run([]() -> task<> {
    runq::semaphore units(1);
    const char* const number = "runq: 1 to 2^61 - 1 units of a semaphore can be asked for, or released";
    EXPECT_EQ(misuse_of([] { runq::semaphore bad(-1); }), "runq: a semaphore begins with 0 to 2^61 - 1 units");
    EXPECT_EQ(misuse_of([&] { (void)units.acquire(0); }), number);
    EXPECT_EQ(misuse_of([&] { (void)units.scoped_acquire(-1); }), number);
    EXPECT_EQ(misuse_of([&] { (void)units.try_acquire(runq::semaphore::max_units + 1); }), number);
    EXPECT_EQ(misuse_of([&] { units.release(0); }), number);
    EXPECT_EQ(misuse_of([&] { units.release(runq::semaphore::max_units); }),
              "runq: a semaphore has more than 2^61 - 1 units now: more were released than acquired");
    EXPECT_TRUE(units.try_acquire()) << "it is as it was";
    co_return;
  });
}

// -- shared_mutex --

TEST_F(shared_mutexes, SC9_one_writes_or_several_read) {
  on_any_number_of_processors([]() -> task<> {
    runq::shared_mutex m;
    int value = 0;  // plain: the mutex protects it
    co_await runq::with_scope([&](runq::scope& s) -> task<> {
      for (int i = 0; i != 2; ++i) {
        s.go([&]() -> task<> {
          for (std::size_t k = 0; k != rounds(2000); ++k) {
            const auto writing = co_await m.scoped_lock();
            const int seen = value;
            if (k % 16 == 0) co_await runq::yield();
            value = seen + 1;
          }
        });
      }
      for (int i = 0; i != 4; ++i) {
        s.go([&]() -> task<> {
          for (std::size_t k = 0; k != rounds(2000); ++k) {
            const auto reading = co_await m.scoped_lock_shared();
            const int seen = value;
            if (k % 16 == 0) co_await runq::yield();
            EXPECT_EQ(value, seen);
          }
        });
      }
      co_return;
    });
    EXPECT_EQ(value, static_cast<int>(2 * rounds(2000)));
    EXPECT_TRUE(m.try_lock());
  });
}

TEST_F(shared_mutexes, SC9_readers_are_inside_at_the_same_time_until_a_writer_waits) {
  on_any_number_of_processors([]() -> task<> {
    runq::shared_mutex m;
    co_await m.lock_shared();
    co_await m.lock_shared();
    EXPECT_FALSE(m.try_lock());
    EXPECT_TRUE(m.try_lock_shared());
    m.unlock_shared();
    bool wrote = false;
    auto writer = runq::spawn([&]() -> task<> {
      const auto writing = co_await m.scoped_lock();
      wrote = true;
    });
    while (m.try_lock_shared()) {
      m.unlock_shared();
      co_await runq::yield();
    }
    auto reader = runq::spawn([&]() -> task<> {
      const auto reading = co_await m.scoped_lock_shared();
      EXPECT_TRUE(wrote);
    });
    m.unlock_shared();
    co_await some_yields();
    m.unlock_shared();
    co_await writer;
    co_await reader;
  });
}

TEST_F(shared_mutexes, a_request_ends_waits) {
  on_any_number_of_processors([]() -> task<> {
    runq::shared_mutex m;
    co_await m.lock();
    const auto alone = [&](std::stop_token stop) -> task<> { co_await m.lock(std::move(stop)); };
    EXPECT_TRUE(co_await can_be_called_off(alone));
    const auto shared = [&](std::stop_token stop) -> task<> { co_await m.lock_shared(std::move(stop)); };
    EXPECT_TRUE(co_await can_be_called_off(shared));
    m.unlock();
    EXPECT_TRUE(m.try_lock());
  });
}

TEST_F(shared_mutexes, misuse_is_refused) {
  runq::shared_mutex m;
  const char* const unlocked = "sync: Unlock of unlocked RWMutex";
  const char* const unshared = "sync: RUnlock of unlocked RWMutex";
  EXPECT_EQ(misuse_of([&] { m.unlock(); }), unlocked);
  EXPECT_EQ(misuse_of([&] { m.unlock_shared(); }), unshared);
  EXPECT_TRUE(m.try_lock_shared());
  EXPECT_EQ(misuse_of([&] { m.unlock(); }), unlocked);
  m.unlock_shared();
  EXPECT_TRUE(m.try_lock());
  EXPECT_EQ(misuse_of([&] { m.unlock_shared(); }), unshared);
  m.unlock();
}

// -- condition_variable --

TEST_F(condition_variables, SC10_a_bounded_queue_of_tasks) {
  on_any_number_of_processors([]() -> task<> {
    constexpr std::size_t room = 4;
    const int n = static_cast<int>(rounds(5000));
    runq::mutex m;
    runq::condition_variable changed;
    std::deque<int> queue;
    std::int64_t sum = 0;
    co_await runq::with_scope([&](runq::scope& s) -> task<> {
      for (int i = 0; i != 3; ++i) {
        s.go([&]() -> task<> {
          for (int k = 1; k <= n; ++k) {
            auto held = co_await m.scoped_lock();
            co_await changed.wait(held, [&] { return queue.size() < room; });
            queue.push_back(k);
            changed.notify_all();
          }
        });
        s.go([&]() -> task<> {
          for (int k = 1; k <= n; ++k) {
            auto held = co_await m.scoped_lock();
            co_await changed.wait(held, [&] { return !queue.empty(); });
            sum += queue.front();
            queue.pop_front();
            changed.notify_all();
          }
        });
      }
      co_return;
    });
    EXPECT_EQ(sum, std::int64_t{3} * n * (n + 1) / 2);
  });
}

TEST_F(condition_variables, SC10_one_notification_is_for_the_one_that_has_waited_longest) {
  sched_test::log_of<int> log;
  runq::run(
      [&]() -> task<> {
        runq::mutex m;
        runq::condition_variable changed;
        const auto waits = [&](int who) -> task<> {
          auto held = co_await m.scoped_lock();
          co_await changed.wait(held);
          log.note(who);
        };
        co_await runq::with_scope([&](runq::scope& s) -> task<> {
          for (int who = 0; who != 4; ++who) s.go(waits(who));
          co_await some_yields(20);
          changed.notify_one();
          co_await some_yields();
          EXPECT_EQ(log.size(), 1u);
          changed.notify_one();
          co_await some_yields();
          EXPECT_EQ(log.size(), 2u);
          changed.notify_all();
        });
        changed.notify_one();
        changed.notify_all();
      },
      {.procs = 1});
  EXPECT_THAT(log.all(), testing::UnorderedElementsAre(0, 1, 2, 3));
}

TEST_F(condition_variables, SC10_a_request_ends_the_wait_with_the_mutex_locked) {
  on_any_number_of_processors([]() -> task<> {
    runq::mutex m;
    runq::condition_variable changed;
    const auto waits = [&](std::stop_token stop) -> task<> {
      auto held = co_await m.scoped_lock();
      bool cancelled = false;
      try {
        co_await changed.wait(held, std::move(stop));
      } catch (const runq::cancelled&) {
        cancelled = true;
        EXPECT_FALSE(m.try_lock());
      }
      if (cancelled) throw runq::cancelled();
    };
    EXPECT_TRUE(co_await can_be_called_off(waits));
    EXPECT_TRUE(m.try_lock());
    m.unlock();
    std::stop_source asked;
    asked.request_stop();
    EXPECT_TRUE(co_await can_be_called_off(waits));
    auto held = co_await m.scoped_lock();
    co_await changed.wait(
        held, [] { return true; }, asked.get_token());
    bool cancelled = false;
    try {
      co_await changed.wait(
          held, [] { return false; }, asked.get_token());
    } catch (const runq::cancelled&) {
      cancelled = true;
    }
    EXPECT_TRUE(cancelled);
    EXPECT_FALSE(m.try_lock());
  });
}

TEST_F(condition_variables, a_request_that_finds_the_condition_true_is_no_cancellation) {
  on_any_number_of_processors([]() -> task<> {
    runq::mutex m;
    runq::condition_variable changed;
    std::stop_source source;
    bool begun = false;     // under m
    bool is_there = false;  // under m; nobody is notified of it
    bool went_on = false;
    co_await runq::with_scope([&](runq::scope& s) -> task<> {
      s.go([&]() -> task<> {
        auto held = co_await m.scoped_lock();
        begun = true;
        co_await changed.wait(
            held, [&] { return is_there; }, source.get_token());
        EXPECT_TRUE(source.stop_requested());
        EXPECT_FALSE(m.try_lock()) << "it goes on without the mutex";
        went_on = true;
      });
      for (bool waits = false; !waits; co_await runq::yield()) {
        const auto held = co_await m.scoped_lock();
        waits = begun;
        is_there = begun;
      }
      source.request_stop();
    });
    EXPECT_TRUE(went_on);
  });
}

TEST_F(condition_variables, a_wait_that_is_called_off_before_it_begins_keeps_the_mutex) {
  runq::run(
      []() -> task<> {
        runq::mutex m;
        runq::condition_variable changed;
        std::stop_source asked;
        asked.request_stop();
        bool other_had_it = false;
        auto held = co_await m.scoped_lock();
        runq::go([&]() -> task<> {
          const auto waited_for = co_await m.scoped_lock();
          other_had_it = true;
        });
        co_await runq::yield();
        bool cancelled = false;
        try {
          co_await changed.wait(held, asked.get_token());
        } catch (const runq::cancelled&) {
          cancelled = true;
        }
        EXPECT_TRUE(cancelled);
        EXPECT_FALSE(other_had_it);
      },
      {.procs = 1});
}

// The request comes between the moment at which the task asks its token, and the one at which it waits.
TEST_F(condition_variables, a_wait_that_is_withdrawn_before_it_begins_does_not_wait) {
  runq::detail::mutex_core<> m;
  runq::detail::condition_core<> changed;
  runq::detail::revocable_waiter<runq::detail::task_waiting> place;
  ASSERT_TRUE(m.try_lock());
  EXPECT_FALSE(changed.withdraw(place)) << "there is nobody to be woken";
  EXPECT_FALSE(changed.wait(place, m));
  EXPECT_FALSE(place.ok.get());
  EXPECT_TRUE(m.try_lock()) << "the mutex was unlocked";
  changed.notify_all();  // which finds nobody
}

TEST_F(condition_variables, requests_and_notifications_at_the_same_time_end_a_wait_once) {
  on_any_number_of_processors([]() -> task<> {
    for (std::size_t round = 0; round != rounds(2000); ++round) {
      runq::mutex m;
      runq::condition_variable changed;
      std::stop_source source;
      co_await runq::with_scope([&](runq::scope& s) -> task<> {
        s.go([&]() -> task<> {
          auto held = co_await m.scoped_lock();
          try {
            co_await changed.wait(held, source.get_token());
          } catch (const runq::cancelled&) {
          }
        });
        s.go([&] { changed.notify_all(); });
        s.go([&] { source.request_stop(); });
        co_return;
      });
      EXPECT_TRUE(m.try_lock());
    }
  });
}

TEST_F(condition_variables, a_guard_that_was_moved_from_is_refused) {
  runq::run([]() -> task<> {
    runq::mutex m;
    runq::condition_variable changed;
    auto held = co_await m.scoped_lock();
    const auto moved = std::move(held);
    EXPECT_EQ(co_await sched_test::misuse_in_task_void([&] { return changed.wait(held); }),
              "runq: condition_variable::wait() was given a guard that was moved from");
  });
}

// -- once --

TEST_F(onces, SC11_it_is_done_once_and_the_others_wait_for_it) {
  on_any_number_of_processors([]() -> task<> {
    for (std::size_t round = 0; round != rounds(500); ++round) {
      runq::once first;
      int calls = 0;
      const auto call = [&calls]() -> task<> {
        co_await runq::yield();
        ++calls;
      };
      co_await runq::with_scope([&](runq::scope& s) -> task<> {
        for (int i = 0; i != 4; ++i) {
          s.go([&]() -> task<> {
            co_await first.call(call);
            EXPECT_EQ(calls, 1);
            EXPECT_TRUE(first.done());
          });
        }
        co_return;
      });
    }
  });
}

TEST_F(onces, SC11_a_call_that_throws_does_not_count) {
  on_any_number_of_processors([]() -> task<> {
    runq::once first;
    std::string text;
    try {
      co_await first.call([] { throw std::runtime_error("not yet"); });
    } catch (const std::runtime_error& error) {
      text = error.what();
    }
    EXPECT_EQ(text, "not yet");
    EXPECT_FALSE(first.done());
    int calls = 0;
    co_await first.call([&] { ++calls; });
    co_await first.call([&] { ++calls; });
    EXPECT_EQ(calls, 1);
  });
}

// -- latch, barrier --

TEST_F(latches, SC12_waits_return_when_the_count_is_0) {
  on_any_number_of_processors([]() -> task<> {
    for (std::size_t round = 0; round != rounds(500); ++round) {
      auto ready = std::make_unique<runq::latch>(3);
      int results[3] = {};
      EXPECT_FALSE(ready->try_wait());
      for (int& result : results) {
        runq::go([&] {
          result = 1;
          ready->count_down();
        });
      }
      co_await ready->wait();
      EXPECT_TRUE(ready->try_wait());
      ready.reset();
      EXPECT_THAT(results, testing::Each(1));
    }
    runq::latch open(0);
    co_await open.wait();
    runq::latch shut(1);
    const auto waits = [&](std::stop_token stop) -> task<> { co_await shut.wait(std::move(stop)); };
    EXPECT_TRUE(co_await can_be_called_off(waits));
  });
}

// The request comes between the moment at which the task asks its token, and the one at which it waits.
TEST_F(latches, a_wait_that_is_withdrawn_before_it_begins_does_not_wait) {
  runq::detail::wait_group_core<> group;
  ASSERT_EQ(group.add(1), runq::detail::counting::done);
  runq::detail::revocable_waiter<runq::detail::task_waiting> place;
  EXPECT_FALSE(group.withdraw(place)) << "there is nobody to be woken";
  EXPECT_FALSE(group.enlist(place));
  EXPECT_FALSE(place.ok.get());
  EXPECT_EQ(group.add(-1), runq::detail::counting::done);
  EXPECT_EQ(group.add(1), runq::detail::counting::done) << "nobody waits";
  EXPECT_EQ(group.add(-1), runq::detail::counting::done);
  EXPECT_FALSE(group.enlist(place));
  EXPECT_TRUE(place.ok.get()) << "the count is 0";
}

TEST_F(latches, misuse_is_refused) {
  EXPECT_EQ(misuse_of([] { runq::latch bad(-1); }), "runq: a latch begins with 0 to 2^61 - 1");
  EXPECT_EQ(misuse_of([] { runq::latch bad(std::int64_t{1} << 61); }), "runq: a latch begins with 0 to 2^61 - 1");
  runq::latch one(1);
  EXPECT_EQ(misuse_of([&] { one.count_down(0); }), "runq: a latch is counted down by 1 or more");
  EXPECT_EQ(misuse_of([&] { one.count_down(2); }), "runq: a latch was counted down below 0");
}

TEST_F(barriers, SC12_nobody_begins_a_phase_before_all_have_ended_the_last) {
  on_any_number_of_processors([]() -> task<> {
    constexpr std::size_t parties = 4;
    const int phases = static_cast<int>(rounds(500));
    runq::barrier all(parties);
    std::array<int, parties> at{};  // plain: the barrier orders it
    std::atomic<int> last_ones = 0;
    co_await runq::with_scope([&](runq::scope& s) -> task<> {
      for (std::size_t self = 0; self != parties; ++self) {
        s.go([&, self]() -> task<> {
          for (int phase = 1; phase <= phases; ++phase) {
            at[self] = phase;
            last_ones += co_await all.arrive_and_wait() ? 1 : 0;
            for (const int other : at) EXPECT_EQ(other, phase);
            (void)co_await all.arrive_and_wait();
          }
        });
      }
      co_return;
    });
    EXPECT_EQ(last_ones, phases);
  });
}

TEST_F(barriers, SC12_a_task_that_leaves_is_not_waited_for_any_more) {
  on_any_number_of_processors([]() -> task<> {
    runq::barrier both(2);
    auto stays = runq::spawn([&]() -> task<> {
      for (int phase = 0; phase != 3; ++phase) (void)co_await both.arrive_and_wait();
    });
    (void)co_await both.arrive_and_wait();
    co_await both.arrive_and_drop();
    co_await stays;
    co_await both.arrive_and_drop();
    const char* const left = "runq: a barrier was used after all of its tasks had left it";
    EXPECT_EQ(co_await sched_test::misuse_in_task([&] { return both.arrive_and_wait(); }), left);
    EXPECT_EQ(co_await sched_test::misuse_in_task_void([&] { return both.arrive_and_drop(); }), left);
  });
  EXPECT_EQ(misuse_of([] { runq::barrier none(0); }), "runq: a barrier is for 1 task or more");
}

TEST_F(barriers, a_task_whose_wait_is_called_off_has_not_come) {
  on_any_number_of_processors([]() -> task<> {
    runq::barrier both(2);
    const auto waits = [&](std::stop_token stop) -> task<> { (void)co_await both.arrive_and_wait(std::move(stop)); };
    EXPECT_TRUE(co_await can_be_called_off(waits));
    auto one = runq::spawn([&]() -> task<bool> { co_return co_await both.arrive_and_wait(); });
    auto two = runq::spawn([&]() -> task<bool> { co_return co_await both.arrive_and_wait(); });
    const bool first = co_await one;
    const bool second = co_await two;
    EXPECT_NE(first, second);
  });
}

// -- the end of a run --

TEST_F(synchronisation, SC8_a_run_may_end_while_tasks_wait) {
  for (const unsigned procs : sched_test::proc_counts) {
    for (const bool outlive : {false, true}) {
      // On one processor each task waits before main goes on. With more, one may begin to wait as main ends, and what
      // it waits for must outlive main.
      if (!outlive && procs != 1) continue;
      runq::semaphore units(0);
      runq::shared_mutex shared;
      runq::mutex m;
      runq::condition_variable changed;
      EXPECT_TRUE(shared.try_lock());
      runq::run(
          [&]() -> task<> {
            runq::semaphore own(0);
            runq::semaphore& used = outlive ? units : own;
            for (int i = 0; i != 2; ++i) {
              runq::go([&]() -> task<> { const auto held = co_await used.scoped_acquire(); });
              runq::go([&]() -> task<> { const auto held = co_await shared.scoped_lock_shared(); });
              runq::go([&]() -> task<> {
                auto held = co_await m.scoped_lock();
                co_await changed.wait(held);
              });
            }
            co_await some_yields();
            // Woken, and most often destroyed before it goes on.
            used.release();
            changed.notify_one();
          },
          {.procs = procs});
      EXPECT_TRUE(m.try_lock());
      shared.unlock();
      EXPECT_TRUE(shared.try_lock());
      EXPECT_EQ(units.try_acquire(), outlive);
    }
  }
}

/// An object in memory of its own. After destroy() that memory has a pattern, which nobody may change.
template <class T>
class watched {
 public:
  template <class... Arguments>
  explicit watched(Arguments&&... arguments) {
    std::construct_at(get(), std::forward<Arguments>(arguments)...);
  }
  watched(const watched&) = delete;
  watched& operator=(const watched&) = delete;
  ~watched() {
    EXPECT_TRUE(std::all_of(memory_.begin(), memory_.end(), [](std::byte b) { return b == pattern; }));
  }
  T* get() { return reinterpret_cast<T*>(memory_.data()); }
  T& operator*() { return *get(); }
  void destroy() {
    std::destroy_at(get());
    memory_.fill(pattern);
  }

 private:
  static constexpr std::byte pattern{0xA5};
  alignas(T) std::array<std::byte, sizeof(T)> memory_;
};

// Tasks wait for objects that are destroyed while the run goes on; the tasks are destroyed at its end.
TEST_F(synchronisation, SC8_a_task_that_ends_with_the_run_leaves_what_was_destroyed_before_alone) {
  for (const bool stoppable : {false, true}) {
    const std::stop_source source(stoppable ? std::stop_source() : std::stop_source(std::nostopstate));
    const std::stop_token token = source.get_token();
    watched<runq::channel<int>> to_send;
    watched<runq::channel<int>> to_receive;
    watched<runq::mutex> locked;
    watched<runq::mutex> of_condition;
    watched<runq::shared_mutex> written;
    watched<runq::semaphore> units(0);
    watched<runq::condition_variable> changed;
    watched<runq::wait_group> group;
    watched<runq::latch> counted(1);
    runq::run(
        [&]() -> task<> {
          runq::go([&]() -> task<> { co_await (*to_send).send(1); });
          runq::go([&]() -> task<> { (void)co_await (*to_receive).receive(); });
          co_await (*locked).lock();
          runq::go([&]() -> task<> {
            if (stoppable) co_await (*locked).lock(token);
            co_await (*locked).lock();
          });
          co_await (*written).lock();
          runq::go([&]() -> task<> { co_await (*written).lock_shared(token); });
          runq::go([&]() -> task<> { co_await (*units).acquire(token); });
          runq::go([&]() -> task<> {
            auto held = co_await (*of_condition).scoped_lock();
            co_await (*changed).wait(held, token);
          });
          (*group).add(1);
          runq::go([&]() -> task<> {
            if (stoppable) co_await (*group).wait(token);
            co_await (*group).wait();
          });
          runq::go([&]() -> task<> {
            if (stoppable) co_await (*counted).wait(token);
            co_await (*counted).wait();
          });
          for (int i = 0; i != 10; ++i) co_await runq::yield();
          to_send.destroy();
          to_receive.destroy();
          locked.destroy();
          of_condition.destroy();
          written.destroy();
          units.destroy();
          changed.destroy();
          group.destroy();
          counted.destroy();
        },
        {.procs = 1});
  }
}

// A stop request has taken each task out of its list when main ends, and none of them has gone on yet. They leave
// nothing behind, and give nothing back that they did not get.
TEST_F(synchronisation, SC8_a_task_whose_wait_was_called_off_when_the_run_ends_changes_nothing) {
  runq::mutex locked;
  runq::mutex of_condition;
  runq::shared_mutex written;
  runq::semaphore units(0);
  runq::condition_variable changed;
  runq::wait_group group;
  runq::latch counted(1);
  int went_on = 0;
  runq::run(
      [&]() -> task<> {
        std::stop_source source;
        const std::stop_token token = source.get_token();
        co_await locked.lock();
        co_await written.lock();
        group.add(1);
        const auto waits = [&](auto what) -> task<> {
          try {
            co_await what();
          } catch (const runq::cancelled&) {
          }
          ++went_on;
        };
        runq::go(waits([&] { return locked.lock(token); }));
        runq::go(waits([&] { return written.lock_shared(token); }));
        runq::go(waits([&] { return written.lock(token); }));
        runq::go(waits([&] { return units.acquire(token); }));
        runq::go(waits([&] { return group.wait(token); }));
        runq::go(waits([&] { return counted.wait(token); }));
        runq::go([&]() -> task<> {
          auto held = co_await of_condition.scoped_lock();
          co_await changed.wait(held, token);
          ++went_on;
        });
        for (int i = 0; i != 10; ++i) co_await runq::yield();
        source.request_stop();
      },
      {.procs = 1});
  EXPECT_EQ(went_on, 0);
  EXPECT_FALSE(locked.try_lock());
  EXPECT_FALSE(written.try_lock_shared());
  EXPECT_FALSE(units.try_acquire());
  EXPECT_FALSE(counted.try_wait());
  EXPECT_TRUE(of_condition.try_lock());
  // Nobody is left in any list.
  locked.unlock();
  EXPECT_TRUE(locked.try_lock());
  written.unlock();
  EXPECT_TRUE(written.try_lock());
  units.release();
  EXPECT_TRUE(units.try_acquire());
  changed.notify_all();
  group.done();
  counted.count_down();
  group.add(1);  // which is misuse while a waiter of the last use is there
}

TEST_F(synchronisation, a_deadlock_names_what_is_waited_for) {
  const auto deadlocked = [] {
    runq::run(
        []() -> task<> {
          runq::shared_mutex shared;
          co_await shared.lock();
          runq::mutex m;
          runq::condition_variable changed;
          const auto reader = [&]() -> task<> { co_await shared.lock_shared(); };
          const auto writer = [&]() -> task<> { co_await shared.lock(); };
          const auto listener = [&]() -> task<> {
            auto held = co_await m.scoped_lock();
            co_await changed.wait(held);
          };
          runq::go(reader());
          runq::go(writer());
          runq::go(listener());
          runq::semaphore none(0);
          co_await none.acquire();
        },
        {.procs = 1});
  };
  RUNQ_EXPECT_STATUS_2(deadlocked(),
                       testing::AllOf(testing::HasSubstr("sync.RWMutex.RLock"), testing::HasSubstr("sync.RWMutex.Lock"),
                                      testing::HasSubstr("sync.Cond.Wait"), testing::HasSubstr("semacquire")));
}

}  // namespace
