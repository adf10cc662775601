// SPDX-License-Identifier: MIT
// Stop requests that end waits, and with_timeout(). Rows SC4, SC5.
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "support.hpp"

namespace {

using namespace std::chrono_literals;
using runq::task;
using sched_test::yield_until;

class cancelling : public sched_test::alarmed {
 protected:
  template <class F>
  static void on_any_number_of_processors(F&& f) {
    for (const unsigned procs : sched_test::proc_counts) runq::run(f, {.procs = procs});
  }
};

/// How an await has ended.
enum class ends { by_itself, cancelled };
template <class Make>
task<ends> how_it_ends(Make& make) {
  auto how = ends::by_itself;
  try {
    (void)co_await make();
  } catch (const runq::cancelled&) {
    how = ends::cancelled;
  }
  co_return how;
}
template <class Make>
task<ends> how_it_ends_void(Make& make) {
  auto how = ends::by_itself;
  try {
    co_await make();
  } catch (const runq::cancelled&) {
    how = ends::cancelled;
  }
  co_return how;
}

/// Starts `n` tasks that await what `make()` returns, and requests a stop while they wait. Returns how many of them the
/// stop cancelled.
template <class Make>
task<int> ended_by_request(std::stop_source& stopping, Make& make, int n) {
  std::atomic<int> begun{0};
  std::atomic<int> cancelled{0};
  std::atomic<int> ended{0};
  for (int i = 0; i != n; ++i) {
    runq::go([&]() -> task<> {
      ++begun;
      if (co_await how_it_ends_void(make) == ends::cancelled) ++cancelled;
      ++ended;
    });
  }
  co_await yield_until([&] { return begun == n; });
  for (int i = 0; i != 100; ++i) co_await runq::yield();
  EXPECT_EQ(ended, 0);
  stopping.request_stop();
  co_await yield_until([&] { return ended == n; });
  co_return cancelled;
}

TEST_F(cancelling, SC4_a_request_ends_sleeps) {
  on_any_number_of_processors([]() -> task<> {
    std::stop_source stopping;
    const auto sleep = [&] { return runq::sleep_for(1h, stopping.get_token()); };
    EXPECT_EQ(co_await ended_by_request(stopping, sleep, 10), 10);
    EXPECT_EQ(co_await how_it_ends_void(sleep), ends::cancelled);  // after the request no further sleep begins
    const auto until = [&] { return runq::sleep_until(runq::clock::now() + 1h, stopping.get_token()); };
    EXPECT_EQ(co_await how_it_ends_void(until), ends::cancelled);
  });
}

TEST_F(cancelling, SC4_a_sleep_without_a_request_is_a_sleep) {
  on_any_number_of_processors([]() -> task<> {
    std::stop_source stopping;
    const auto begin = runq::clock::now();
    const auto sleep = [&] { return runq::sleep_for(1ms, stopping.get_token()); };
    EXPECT_EQ(co_await how_it_ends_void(sleep), ends::by_itself);
    EXPECT_GE(runq::clock::now() - begin, 1ms);
    const auto none = [&] { return runq::sleep_for(0ms, stopping.get_token()); };
    EXPECT_EQ(co_await how_it_ends_void(none), ends::by_itself);
    const auto without_source = [&] { return runq::sleep_for(1us, std::stop_token()); };
    EXPECT_EQ(co_await how_it_ends_void(without_source), ends::by_itself);
  });
}

TEST_F(cancelling, SC4_timer_and_request_at_the_same_time_end_a_sleep_once) {
  on_any_number_of_processors([]() -> task<> {
    for (std::size_t round = 0; round != sched_test::rounds(2'000); ++round) {
      std::stop_source stopping;
      std::atomic<int> ended{0};
      runq::go([&]() -> task<> {
        const auto sleep = [&] { return runq::sleep_for(std::chrono::microseconds(round % 20), stopping.get_token()); };
        (void)co_await how_it_ends_void(sleep);
        ++ended;
      });
      co_await runq::sleep_for(std::chrono::microseconds(round / 20 % 20));
      stopping.request_stop();
      co_await yield_until([&] { return ended == 1; });
    }
  });
}

TEST_F(cancelling, SC4_a_request_ends_waits_for_a_mutex_and_the_task_that_still_waits_gets_it) {
  on_any_number_of_processors([]() -> task<> {
    runq::mutex m;
    co_await m.lock();
    bool got_it = false;
    runq::wait_group last;
    last.add(1);
    std::stop_source stopping;
    const auto lock = [&] { return m.lock(stopping.get_token()); };
    const int n = co_await ended_by_request(stopping, lock, 10);
    EXPECT_EQ(n, 10);
    runq::go([&]() -> task<> {
      {
        const auto guard = co_await m.scoped_lock(std::stop_token());
        got_it = true;
      }
      last.done();
    });
    co_await runq::yield();
    EXPECT_FALSE(got_it);
    m.unlock();
    co_await last.wait();
    EXPECT_TRUE(got_it);
    const auto guarded = [&] { return m.scoped_lock(stopping.get_token()); };
    EXPECT_EQ(co_await how_it_ends(guarded), ends::cancelled);
    EXPECT_TRUE(m.try_lock());
    m.unlock();
  });
}

TEST_F(cancelling, SC4_a_mutex_is_handed_over_or_not_when_requests_come_at_the_same_time) {
  on_any_number_of_processors([]() -> task<> {
    runq::mutex m;
    int inside = 0;
    for (std::size_t round = 0; round != sched_test::rounds(1'000); ++round) {
      std::stop_source stopping;
      runq::wait_group all;
      all.add(5);
      for (int i = 0; i != 4; ++i) {
        runq::go([&]() -> task<> {
          try {
            const auto guard = co_await m.scoped_lock(stopping.get_token());
            EXPECT_EQ(++inside, 1);
            co_await runq::yield();
            --inside;
          } catch (const runq::cancelled&) {
          }
          all.done();
        });
      }
      runq::go([&] {
        stopping.request_stop();
        all.done();
      });
      co_await all.wait();
      EXPECT_TRUE(m.try_lock());
      m.unlock();
    }
  });
}

TEST_F(cancelling, SC4_a_request_ends_waits_for_a_group_and_the_others_wait_on) {
  on_any_number_of_processors([]() -> task<> {
    runq::wait_group group;
    group.add(1);
    std::stop_source stopping;
    std::atomic<bool> waited{false};
    runq::go([&]() -> task<> {
      co_await group.wait(std::stop_token());
      waited = true;
    });
    const auto wait = [&] { return group.wait(stopping.get_token()); };
    const int n = co_await ended_by_request(stopping, wait, 10);
    EXPECT_EQ(n, 10);
    EXPECT_FALSE(waited);
    group.done();
    co_await yield_until([&] { return waited.load(); });
    std::stop_source other;
    const auto again = [&] { return group.wait(other.get_token()); };
    EXPECT_EQ(co_await how_it_ends_void(again), ends::by_itself);
  });
}

TEST_F(cancelling, SC4_a_group_is_done_or_not_when_requests_come_at_the_same_time) {
  on_any_number_of_processors([]() -> task<> {
    for (std::size_t round = 0; round != sched_test::rounds(1'000); ++round) {
      std::stop_source stopping;
      runq::wait_group group;
      group.add(1);
      std::atomic<int> ended{0};
      for (int i = 0; i != 3; ++i) {
        runq::go([&]() -> task<> {
          const auto wait = [&] { return group.wait(stopping.get_token()); };
          (void)co_await how_it_ends_void(wait);
          ++ended;
        });
      }
      runq::go([&] {
        stopping.request_stop();
        ++ended;
      });
      runq::go([&] {
        group.done();
        ++ended;
      });
      co_await yield_until([&] { return ended == 5; });
    }
  });
}

TEST_F(cancelling, SC4_a_request_ends_sends_and_receives_and_the_channel_goes_on) {
  on_any_number_of_processors([]() -> task<> {
    runq::channel<std::shared_ptr<int>> c;
    const auto value = std::make_shared<int>(1);
    std::stop_source senders;
    const auto send = [&] { return c.send(value, senders.get_token()); };
    EXPECT_EQ(co_await ended_by_request(senders, send, 10), 10);
    EXPECT_EQ(value.use_count(), 1);  // the values of the sends were destroyed
    std::stop_source receivers;
    const auto receive = [&]() -> task<> { (void)co_await c.receive(receivers.get_token()); };
    EXPECT_EQ(co_await ended_by_request(receivers, receive, 10), 10);

    // Nobody waits any more, and those that come next meet.
    std::optional<std::shared_ptr<int>> got;
    EXPECT_EQ(c.try_receive(got), runq::channel_result::waits);
    EXPECT_EQ(c.try_send(nullptr), runq::channel_result::waits);
    std::stop_source other;
    runq::go([&]() -> task<> { co_await c.send(value, other.get_token()); });
    EXPECT_EQ(co_await c.receive(other.get_token()), value);
  });
}

TEST_F(cancelling, SC4_after_a_request_a_channel_that_is_ready_is_left_alone) {
  on_any_number_of_processors([]() -> task<> {
    std::stop_source stopping;
    runq::channel<int> c(2);
    co_await c.send(1, stopping.get_token());
    stopping.request_stop();
    const auto send = [&] { return c.send(2, stopping.get_token()); };
    EXPECT_EQ(co_await how_it_ends_void(send), ends::cancelled);
    const auto receive = [&] { return c.receive(stopping.get_token()); };
    EXPECT_EQ(co_await how_it_ends(receive), ends::cancelled);
    EXPECT_EQ(c.size(), 1U);
    EXPECT_EQ(co_await c.receive(std::stop_token()), 1);
  });
}

TEST_F(cancelling, SC4_a_channel_that_is_closed_ends_waits_with_a_token_as_it_does_others) {
  on_any_number_of_processors([]() -> task<> {
    std::stop_source stopping;
    runq::channel<int> c;
    std::atomic<int> ended{0};
    runq::go([&]() -> task<> {
      EXPECT_FALSE((co_await c.receive(stopping.get_token())).has_value());
      ++ended;
    });
    co_await yield_until([&] { return runq::this_scheduler().dump().find("[select]") != std::string::npos; });
    c.close();
    co_await yield_until([&] { return ended == 1; });
    const auto late = [&] { return c.send(1, stopping.get_token()); };
    EXPECT_EQ(co_await sched_test::misuse_in_task_void(late), "send on closed channel");
  });
}

TEST_F(cancelling, SC4_handles_of_a_channel_take_a_token) {
  on_any_number_of_processors([]() -> task<> {
    std::stop_source stopping;
    const auto both = runq::make_channel<int>(1);
    const runq::send_end<int> to = both;
    const runq::receive_end<int> from = both;
    co_await to.send(1, stopping.get_token());
    EXPECT_EQ(co_await from.receive(stopping.get_token()), 1);
    co_await both.send(2, stopping.get_token());
    EXPECT_EQ(co_await both.receive(stopping.get_token()), 2);
    const auto receive = [&]() -> task<> { (void)co_await from.receive(stopping.get_token()); };
    EXPECT_EQ(co_await ended_by_request(stopping, receive, 3), 3);
    const auto send = [&] { return to.send(3, stopping.get_token()); };
    EXPECT_EQ(co_await how_it_ends_void(send), ends::cancelled);
    EXPECT_EQ(both.size(), 0U);
  });
}

TEST_F(cancelling, SC4_a_value_is_handed_over_or_not_when_requests_come_at_the_same_time) {
  on_any_number_of_processors([]() -> task<> {
    runq::channel<int> c;
    std::atomic<int> sent{0};
    std::atomic<int> received{0};
    for (std::size_t round = 0; round != sched_test::rounds(1'000); ++round) {
      std::stop_source stopping;
      runq::wait_group all;
      all.add(5);
      for (int i = 0; i != 2; ++i) {
        runq::go([&]() -> task<> {
          const auto send = [&] { return c.send(1, stopping.get_token()); };
          if (co_await how_it_ends_void(send) == ends::by_itself) ++sent;
          all.done();
        });
        runq::go([&]() -> task<> {
          const auto receive = [&] { return c.receive(stopping.get_token()); };
          if (co_await how_it_ends(receive) == ends::by_itself) ++received;
          all.done();
        });
      }
      runq::go([&] {
        stopping.request_stop();
        all.done();
      });
      co_await all.wait();
    }
    EXPECT_EQ(sent, received);
  });
}

TEST_F(cancelling, SC4_a_blocking_call_does_not_begin_after_a_request) {
  on_any_number_of_processors([]() -> task<> {
    std::stop_source stopping;
    int calls = 0;
    const auto call = [&] { return runq::blocking([&] { return ++calls; }, stopping.get_token()); };
    EXPECT_EQ(co_await how_it_ends(call), ends::by_itself);
    stopping.request_stop();
    EXPECT_EQ(co_await how_it_ends(call), ends::cancelled);
    EXPECT_EQ(calls, 1);
  });
}

TEST_F(cancelling, SC4_a_request_from_a_thread_outside) {
  std::stop_source stopping;
  std::thread outside;
  runq::run([&]() -> task<> {
    const auto sleep = [&] { return runq::sleep_for(1h, stopping.get_token()); };
    outside = std::thread([&] { stopping.request_stop(); });
    EXPECT_EQ(co_await how_it_ends_void(sleep), ends::cancelled);
  });
  outside.join();
}

TEST_F(cancelling, SC4_a_detached_task_that_is_cancelled_ends_quietly) {
  for (const unsigned procs : sched_test::proc_counts) {
    std::stop_source stopping;
    std::atomic<int> gone{0};
    runq::run(
        [&]() -> task<> {
          struct at_the_end {
            std::atomic<int>& n;
            ~at_the_end() { ++n; }
          };
          for (int i = 0; i != 4; ++i) {
            runq::go([&]() -> task<> {
              const at_the_end here{gone};
              co_await runq::sleep_for(1h, stopping.get_token());
            });
            runq::go([&]() -> task<int> {
              const at_the_end here{gone};
              co_await runq::sleep_for(1h, stopping.get_token());
              co_return 0;
            });
          }
          stopping.request_stop();
          co_return;
        },
        {.procs = procs, .until = runq::run_until::all_have_ended});
    EXPECT_EQ(gone, 8);
  }
}

TEST_F(cancelling, SC4_a_child_that_is_cancelled_with_its_scope_has_not_failed) {
  on_any_number_of_processors([]() -> task<> {
    co_await runq::with_scope([](runq::scope& s) -> task<> {
      co_await s.fork([](runq::scope& of) -> task<> { co_await runq::sleep_for(1h, of.stop_token()); }(s));
      s.go([&]() -> task<> { co_await runq::sleep_for(1h, s.stop_token()); });
      s.request_stop();
      EXPECT_FALSE(s.failed());
    });
    std::stop_source another;
    another.request_stop();
    std::string thrown;
    try {
      co_await runq::with_scope([&](runq::scope& s) -> task<> {
        s.go([&]() -> task<> { co_await runq::sleep_for(1h, another.get_token()); });
        co_return;
      });
    } catch (const runq::cancelled& error) {
      thrown = error.what();
    }
    EXPECT_EQ(thrown, "runq: a stop request ended the wait");
  });
}

TEST_F(cancelling, L2_a_run_may_end_while_tasks_wait_with_tokens) {
  for (const unsigned procs : sched_test::proc_counts) {
    std::stop_source stopping;
    runq::mutex m;
    runq::wait_group group;
    group.add(1);
    runq::run(
        [&]() -> task<> {
          co_await m.lock();
          std::atomic<int> begun{0};
          const auto start = [&](auto make) {
            runq::go([&begun, make]() -> task<> {
              ++begun;
              co_await make();
            });
          };
          for (int i = 0; i != 3; ++i) {
            start([&] { return runq::sleep_for(1h, stopping.get_token()); });
            start([&] { return m.lock(stopping.get_token()); });
            start([&] { return group.wait(stopping.get_token()); });
          }
          co_await yield_until([&] { return begun == 9; });
        },
        {.procs = procs});
    stopping.request_stop();  // too late: the tasks that waited with this token are gone
    m.unlock();
    EXPECT_TRUE(m.try_lock());
    group.done();
  }
}

TEST_F(cancelling, SC5_what_takes_too_long_is_asked_to_stop) {
  on_any_number_of_processors([]() -> task<> {
    bool asked = false;
    const auto too_long = [&](std::stop_token stop) -> task<int> {
      try {
        co_await runq::sleep_for(1h, stop);
      } catch (const runq::cancelled&) {
        asked = stop.stop_requested();
        throw;
      }
      co_return 1;
    };
    std::string thrown;
    try {
      (void)co_await runq::with_timeout(1ms, too_long);
    } catch (const runq::timed_out& error) {
      thrown = error.what();
    }
    EXPECT_EQ(thrown, "runq: with_timeout(): the time limit was reached");
    EXPECT_TRUE(asked);
    // A function that ignores the stop request and returns late still has its result returned.
    const auto stubborn = [](std::stop_token stop) -> task<int> {
      (void)co_await runq::select(stop);
      co_return 3;
    };
    EXPECT_EQ(co_await runq::with_timeout(1ms, stubborn), 3);
  });
}

TEST_F(cancelling, SC5_what_ends_in_time_has_its_result_at_once) {
  on_any_number_of_processors([]() -> task<> {
    const auto quick = [](std::stop_token) -> task<int> { co_return 7; };
    EXPECT_EQ(co_await runq::with_timeout(1h, quick), 7);
    const auto fails = [](std::stop_token) -> task<> {
      co_await runq::yield();
      throw std::runtime_error("of its own");
    };
    std::string thrown;
    try {
      co_await runq::with_timeout(1h, fails);
    } catch (const std::runtime_error& error) {
      thrown = error.what();
    }
    EXPECT_EQ(thrown, "of its own");
  });
}

TEST_F(cancelling, SC5_the_work_may_be_a_temporary_and_need_not_be_copied_if_it_has_a_name) {
  on_any_number_of_processors([]() -> task<> {
    runq::channel<int> never;
    std::optional<int> got;
    bool stopped = false;
    // The same as a task that is kept while the full expression in which it was made is over.
    auto limited = runq::with_timeout(1ms, [&](std::stop_token stop) -> task<int> {
      stopped = co_await runq::select(stop, runq::on_receive(never, got)) == runq::stopped;
      co_return 5;
    });
    co_await runq::yield();
    EXPECT_EQ(co_await limited, 5);
    EXPECT_TRUE(stopped);
    EXPECT_EQ(co_await runq::with_timeout(1h, [](std::stop_token) -> task<int> { co_return 6; }), 6);

    struct counter {
      counter() = default;
      counter(const counter&) = delete;
      counter& operator=(const counter&) = delete;
      task<int> operator()(const std::stop_token&) { co_return ++calls; }
      int calls = 0;
    } count;
    EXPECT_EQ(co_await runq::with_timeout(1h, count), 1);
    EXPECT_EQ(co_await runq::with_timeout(1h, count), 2);
  });
}

TEST_F(cancelling, SC5_an_outer_request_is_no_timeout) {
  on_any_number_of_processors([]() -> task<> {
    std::stop_source outer;
    outer.request_stop();
    const auto long_one = [](std::stop_token stop) -> task<> { co_await runq::sleep_for(1h, stop); };
    const auto limited = [&] { return runq::with_timeout(1h, long_one, outer.get_token()); };
    EXPECT_EQ(co_await how_it_ends_void(limited), ends::cancelled);
  });
}

// ---- with_timeout(d, wait) ------------------------------------------------------------------------------------------

enum class limited_end { in_time, timed_out, cancelled };
task<limited_end> limited_end_of(auto limited) {
  auto how = limited_end::in_time;
  try {
    (void)co_await limited;
  } catch (const runq::timed_out&) {
    how = limited_end::timed_out;
  } catch (const runq::cancelled&) {
    how = limited_end::cancelled;
  }
  co_return how;
}

/// Something of each kind that a task can wait for, so that each wait lasts until let_go().
struct all_busy {
  runq::channel<std::string> empty;
  runq::channel<std::shared_ptr<int>> full{1};
  runq::mutex m;
  runq::wait_group group;
  runq::semaphore units{0};
  runq::shared_mutex shared;

  all_busy() {
    EXPECT_EQ(full.try_send(std::make_shared<int>(1)), runq::channel_result::done);
    EXPECT_TRUE(m.try_lock());
    EXPECT_TRUE(shared.try_lock());
    group.add(1);
  }
  /// Calls `f(make, let_go)` for each kind: `make(d, token)` returns the wait with a limit, which lasts until let_go(),
  /// if it begins.
  task<> for_each_kind(auto f) {
    const auto received = [&](auto d, std::stop_token t) { return runq::with_timeout(d, empty.receive(), t); };
    co_await f(received, [&]() -> task<> { co_await empty.send("come"); });
    const auto sent = [&](auto d, std::stop_token t) {
      return runq::with_timeout(d, full.send(std::make_shared<int>(2)), t);
    };
    co_await f(sent, [&]() -> task<> { (void)co_await full.receive(); });
    const auto locked = [&](auto d, std::stop_token t) { return runq::with_timeout(d, m.lock(), t); };
    co_await f(locked, [&]() -> task<> {
      m.unlock();
      co_return;
    });
    const auto guarded = [&](auto d, std::stop_token t) { return runq::with_timeout(d, m.scoped_lock(), t); };
    co_await f(guarded, [&]() -> task<> {
      m.unlock();
      co_return;
    });
    const auto grouped = [&](auto d, std::stop_token t) { return runq::with_timeout(d, group.wait(), t); };
    co_await f(grouped, [&]() -> task<> {
      group.done();
      co_return;
    });
    const auto taken = [&](auto d, std::stop_token t) { return runq::with_timeout(d, units.acquire(2), t); };
    co_await f(taken, [&]() -> task<> {
      units.release(2);
      co_return;
    });
    const auto held = [&](auto d, std::stop_token t) { return runq::with_timeout(d, units.scoped_acquire(), t); };
    co_await f(held, [&]() -> task<> {
      units.release();
      co_return;
    });
    const auto read = [&](auto d, std::stop_token t) { return runq::with_timeout(d, shared.scoped_lock_shared(), t); };
    co_await f(read, [&]() -> task<> {
      shared.unlock();
      co_return;
    });
  }
};

TEST_F(cancelling, SC5_a_wait_that_lasts_too_long_is_timed_out) {
  on_any_number_of_processors([]() -> task<> {
    all_busy busy;
    int kinds = 0;
    co_await busy.for_each_kind([&](const auto& make, const auto&) -> task<> {
      EXPECT_EQ(co_await limited_end_of(make(1ms, {})), limited_end::timed_out);
      ++kinds;
    });
    EXPECT_EQ(kinds, 8);
    EXPECT_EQ(co_await limited_end_of(runq::with_timeout(1ms, runq::sleep_for(1h))), limited_end::timed_out);
    const auto later = runq::clock::now() + 1h;
    EXPECT_EQ(co_await limited_end_of(runq::with_timeout(1ms, runq::sleep_until(later))), limited_end::timed_out);
    // Nobody has got anything.
    busy.m.unlock();
    EXPECT_TRUE(busy.m.try_lock());
    busy.units.release(1);
    EXPECT_TRUE(busy.units.try_acquire(1));
    EXPECT_EQ(busy.full.size(), 1U);
    EXPECT_FALSE(busy.shared.try_lock_shared());
  });
}

TEST_F(cancelling, SC5_a_wait_that_ends_in_time_gives_what_it_gives_without_a_limit) {
  on_any_number_of_processors([]() -> task<> {
    all_busy busy;
    int kinds = 0;
    co_await busy.for_each_kind([&](const auto& make, const auto& let_go) -> task<> {
      std::atomic<bool> ended{false};
      runq::go([&]() -> task<> {
        EXPECT_EQ(co_await limited_end_of(make(1h, {})), limited_end::in_time);
        ended = true;
      });
      for (int i = 0; i != 10; ++i) co_await runq::yield();
      EXPECT_FALSE(ended);
      co_await let_go();
      co_await yield_until([&] { return ended.load(); });
      ++kinds;
      // A plain lock() stays locked; a guard unlocks at its end, and the next kind wants the mutex locked.
      (void)busy.m.try_lock();
    });
    EXPECT_EQ(kinds, 8);
    EXPECT_EQ(co_await limited_end_of(runq::with_timeout(1h, runq::sleep_for(1ms))), limited_end::in_time);
  });
}

TEST_F(cancelling, SC5_the_result_of_a_limited_wait) {
  on_any_number_of_processors([]() -> task<> {
    runq::channel<std::string> words(2);
    co_await runq::with_timeout(1h, words.send("one"));
    const auto one = co_await runq::with_timeout(1h, words.receive());
    static_assert(std::is_same_v<decltype(one), const std::optional<std::string>>);
    EXPECT_EQ(one, "one");
    // The temporary wait is gone when the time limit begins to run; the value has moved on.
    auto kept = runq::with_timeout(1h, words.send(std::string(100, 'x')));
    co_await runq::yield();
    co_await kept;
    EXPECT_EQ(co_await runq::with_timeout(1h, words.receive()), std::string(100, 'x'));

    words.close();
    EXPECT_FALSE((co_await runq::with_timeout(1h, words.receive())).has_value());
    std::string thrown;
    try {
      co_await runq::with_timeout(1h, words.send("late"));
    } catch (const runq::misuse& error) {
      thrown = error.what();
    }
    EXPECT_EQ(thrown, "send on closed channel");

    runq::mutex m;
    {
      const runq::mutex::guard guard = co_await runq::with_timeout(1h, m.scoped_lock());
      EXPECT_FALSE(m.try_lock());
    }
    co_await runq::with_timeout(1h, m.lock());
    m.unlock();
    runq::semaphore units(3);
    {
      const runq::semaphore::guard held = co_await runq::with_timeout(1h, units.scoped_acquire(2));
      EXPECT_FALSE(units.try_acquire(2));
    }
    EXPECT_TRUE(units.try_acquire(3));
    runq::latch open(0);
    co_await runq::with_timeout(1h, open.wait());
    const auto ends = runq::make_channel<int>(1);
    co_await runq::with_timeout(1h, ends.send(5));
    EXPECT_EQ(co_await runq::with_timeout(1h, ends.receive()), 5);
  });
}

TEST_F(cancelling, SC5_the_value_of_a_send_that_is_timed_out_is_destroyed) {
  on_any_number_of_processors([]() -> task<> {
    runq::channel<std::shared_ptr<int>> nobody;
    const auto value = std::make_shared<int>(1);
    EXPECT_EQ(co_await limited_end_of(runq::with_timeout(1ms, nobody.send(value))), limited_end::timed_out);
    EXPECT_EQ(value.use_count(), 1);
  });
}

TEST_F(cancelling, SC5_an_outer_request_ends_a_limited_wait) {
  on_any_number_of_processors([]() -> task<> {
    all_busy busy;
    co_await busy.for_each_kind([&](const auto& make, const auto&) -> task<> {
      std::stop_source outer;
      const auto limited = [&]() -> task<> { (void)co_await make(1h, outer.get_token()); };
      EXPECT_EQ(co_await ended_by_request(outer, limited, 3), 3);
      EXPECT_EQ(co_await limited_end_of(make(1h, outer.get_token())), limited_end::cancelled);
    });
  });
}

TEST_F(cancelling, SC5_value_and_time_limit_at_the_same_time) {
  on_any_number_of_processors([]() -> task<> {
    runq::channel<int> numbers;
    int received = 0;
    std::atomic<int> sent{0};
    const std::size_t rounds = sched_test::rounds(500);
    for (std::size_t round = 0; round != rounds; ++round) {
      std::atomic<bool> ended{false};
      runq::go([&, round]() -> task<> {
        const auto d = std::chrono::microseconds(round % 20);
        const auto how = co_await limited_end_of(runq::with_timeout(d, numbers.send(1)));
        if (how == limited_end::in_time) ++sent;
        ended = true;
      });
      const auto d = std::chrono::microseconds(round / 20 % 20);
      if (co_await limited_end_of(runq::with_timeout(d, numbers.receive())) == limited_end::in_time) ++received;
      co_await yield_until([&] { return ended.load(); });
    }
    EXPECT_EQ(sent, received);
  });
}

TEST_F(cancelling, SC5_a_wait_with_a_token_of_its_own_is_misuse) {
  on_any_number_of_processors([]() -> task<> {
    std::stop_source stopping;
    runq::semaphore units(1);
    EXPECT_THROW((void)runq::with_timeout(1h, units.acquire(stopping.get_token())), runq::misuse);
    EXPECT_THROW((void)runq::with_timeout(1h, units.scoped_acquire(stopping.get_token())), runq::misuse);
    EXPECT_TRUE(units.try_acquire());
    co_return;
  });
}

/// Ends a run while tasks wait, with a limit, for what is in `busy`, or in a new one in main if that is null.
void end_during_limited_waits(unsigned procs, all_busy* busy) {
  std::stop_source stopping;
  runq::run(
      [&]() -> task<> {
        std::optional<all_busy> in_main;
        all_busy& on = busy != nullptr ? *busy : in_main.emplace();
        std::atomic<int> begun{0};
        co_await on.for_each_kind([&](const auto& make, const auto&) -> task<> {
          for (const std::stop_token& token : {std::stop_token(), stopping.get_token()}) {
            runq::go([&begun, limited = make(1h, token)]() mutable -> task<> {
              ++begun;
              (void)co_await limited;
            });
          }
          co_return;
        });
        runq::go([&begun]() -> task<> {
          ++begun;
          co_await runq::with_timeout(1h, runq::sleep_for(2h));
        });
        co_await yield_until([&] { return begun == 17; });
        for (int i = 0; i != 20; ++i) co_await runq::yield();
      },
      {.procs = procs});
  stopping.request_stop();
}

TEST_F(cancelling, L2_a_run_may_end_during_limited_waits) {
  for (const unsigned procs : sched_test::proc_counts) {
    all_busy outlives;
    end_during_limited_waits(procs, &outlives);
  }
  // With one processor all wait when main ends, so none of them uses what is gone.
  end_during_limited_waits(1, nullptr);
}

}  // namespace
