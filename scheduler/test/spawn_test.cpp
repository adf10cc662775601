// SPDX-License-Identifier: MIT
// spawn(), when_all() and when_any(). Rows SC6, SC7.
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "support.hpp"

namespace {

using namespace std::chrono_literals;
using runq::task;
using testing::ElementsAre;

class spawning : public sched_test::alarmed {
 protected:
  template <class F>
  static void on_any_number_of_processors(F&& f) {
    for (const unsigned procs : sched_test::proc_counts) runq::run(f, {.procs = procs});
  }
};
using when = spawning;

task<int> number(int n) {
  co_await runq::yield();
  co_return n;
}
task<> nothing() { co_await runq::yield(); }
task<int> fails(const char* what) {
  co_await runq::yield();
  throw std::runtime_error(what);
}
/// Ends when it is asked to stop.
task<int> until_stopped(std::stop_token stop) {
  co_await runq::sleep_for(1h, std::move(stop));
  co_return -1;
}

/// The text of the exception that leaves the task that `make()` returns.
template <class Make>
task<std::string> failure_of(Make& make) {
  std::string text = "(threw nothing)";
  try {
    auto made = make();
    (void)co_await made;
  } catch (const std::exception& error) {
    text = error.what();
  }
  co_return text;
}

TEST_F(spawning, SC6_the_result_comes_back_before_or_after_the_end) {
  on_any_number_of_processors([]() -> task<> {
    auto early = runq::spawn(number(1));
    auto late = runq::spawn([] { return std::make_unique<int>(2); });
    auto coroutine = runq::spawn([n = 3]() -> task<int> { co_return co_await number(n); });
    bool ran = false;
    auto none = runq::spawn([&ran]() -> task<> {
      ran = true;
      co_return;
    });
    for (int i = 0; i != 10; ++i) co_await runq::yield();
    EXPECT_EQ(co_await early, 1);
    const auto two = co_await late;
    EXPECT_EQ(*two, 2);
    EXPECT_EQ(co_await coroutine, 3);
    co_await none;
    EXPECT_TRUE(ran);
  });
}

TEST_F(spawning, SC6_an_exception_is_thrown_where_the_task_is_awaited) {
  on_any_number_of_processors([]() -> task<> {
    auto failing = runq::spawn(fails("fell"));
    std::string text;
    try {
      (void)co_await failing;
    } catch (const std::runtime_error& error) {
      text = error.what();
    }
    EXPECT_EQ(text, "fell");
  });
}

TEST_F(spawning, SC6_any_task_may_await_it) {
  on_any_number_of_processors([]() -> task<> {
    for (std::size_t round = 0; round != sched_test::rounds(500); ++round) {
      runq::channel<runq::spawned<int>> handles;
      runq::wait_group group;
      group.add(1);
      runq::go([&]() -> task<> {
        auto handle = co_await handles.receive();
        EXPECT_EQ(co_await *handle, 7);
        group.done();
      });
      auto handle = runq::spawn(number(7));
      co_await handles.send(std::move(handle));
      EXPECT_FALSE(handle.valid());
      co_await group.wait();
    }
  });
}

TEST_F(spawning, what_the_task_owns_is_destroyed_before_its_result_is_there) {
  on_any_number_of_processors([]() -> task<> {
    auto owned = std::make_shared<int>(5);
    const std::weak_ptr<int> seen = owned;
    auto handle = runq::spawn([owned = std::move(owned)]() -> task<int> { co_return co_await number(*owned); });
    EXPECT_EQ(co_await handle, 5);
    EXPECT_TRUE(seen.expired());
  });
}

TEST_F(spawning, SC6_a_handle_that_is_destroyed_asks_the_task_to_stop_and_drops_what_comes_of_it) {
  on_any_number_of_processors([]() -> task<> {
    runq::channel<bool> stopped(1);
    {
      auto dropped = runq::spawn([&stopped](std::stop_token stop) -> task<> {
        const bool asked = co_await runq::select(std::move(stop)) == runq::stopped;
        co_await stopped.send(asked);
        throw std::runtime_error("nobody wants to know");
      });
      EXPECT_TRUE(dropped.valid());
    }
    EXPECT_EQ(co_await stopped.receive(), true);
  });
}

TEST_F(spawning, an_assignment_asks_the_former_task_to_stop) {
  on_any_number_of_processors([]() -> task<> {
    runq::channel<int> ended(1);
    auto handle = runq::spawn([&ended](std::stop_token stop) -> task<> {
      (void)co_await runq::select(std::move(stop));
      co_await ended.send(1);
    });
    handle = runq::spawn(nothing());
    EXPECT_EQ(co_await ended.receive(), 1);
    co_await handle;
  });
}

TEST_F(spawning, request_stop_reaches_the_task_and_its_cancellation_reaches_the_awaiting_task) {
  on_any_number_of_processors([]() -> task<> {
    auto handle = runq::spawn(until_stopped);
    handle.request_stop();
    bool cancelled = false;
    try {
      (void)co_await handle;
    } catch (const runq::cancelled&) {
      cancelled = true;
    }
    EXPECT_TRUE(cancelled);
  });
}

TEST_F(spawning, SC6_a_wait_that_is_called_off_leaves_the_task_as_it_was) {
  on_any_number_of_processors([]() -> task<> {
    runq::channel<int> go_on;
    auto handle = runq::spawn([&go_on]() -> task<int> { co_return (co_await go_on.receive()).value(); });
    const auto impatient = [&handle](std::stop_token stop) -> task<int> { co_return co_await handle.wait(stop); };
    bool timed_out = false;
    try {
      (void)co_await runq::with_timeout(1ms, impatient);
    } catch (const runq::timed_out&) {
      timed_out = true;
    }
    EXPECT_TRUE(timed_out);
    std::stop_source asked;
    asked.request_stop();
    bool cancelled = false;
    try {
      (void)co_await handle.wait(asked.get_token());
    } catch (const runq::cancelled&) {
      cancelled = true;
    }
    EXPECT_TRUE(cancelled);
    co_await go_on.send(3);
    EXPECT_EQ(co_await handle, 3);
  });
}

TEST_F(spawning, a_detached_task_goes_on_by_itself) {
  on_any_number_of_processors([]() -> task<> {
    runq::channel<bool> ended;
    auto handle = runq::spawn([&ended](const std::stop_token& stop) -> task<int> {
      co_await runq::yield();
      co_await ended.send(stop.stop_requested());
      co_return 1;
    });
    handle.detach();
    EXPECT_FALSE(handle.valid());
    EXPECT_EQ(co_await ended.receive(), false);
    auto cancelled = runq::spawn([]() -> task<> {
      throw runq::cancelled();
      co_return;
    });
    cancelled.detach();
    for (int i = 0; i != 10; ++i) co_await runq::yield();
  });
}

TEST_F(spawning, an_exception_of_a_detached_task_ends_the_process_as_that_of_any_other) {
  for (const int yields : {0, 10}) {
    RUNQ_EXPECT_STATUS_2(runq::run(
                             [=]() -> task<> {
                               auto handle = runq::spawn(fails("on its own"));
                               for (int i = 0; i != yields; ++i) co_await runq::yield();
                               handle.detach();
                               co_await runq::sleep_for(1h);
                             },
                             {.procs = 1}),
                         "^panic: on its own");
  }
}

TEST_F(spawning, misuse_is_refused) {
  on_any_number_of_processors([]() -> task<> {
    const auto of = [](runq::spawned<int>& handle) -> task<std::string> {
      std::string text = "(threw nothing)";
      try {
        (void)co_await handle;
      } catch (const runq::misuse& error) {
        text = error.what();
      }
      co_return text;
    };
    const char* const nothing_there = "runq: the handle of a spawned task was moved from, or the task was detached";
    auto handle = runq::spawn(number(1));
    EXPECT_EQ(co_await handle, 1);
    EXPECT_EQ(co_await of(handle), "runq: a spawned task was awaited twice");
    EXPECT_EQ(sched_test::misuse_of([&] { handle.detach(); }),
              "runq: a spawned task was detached after it was awaited");
    auto moved = std::move(handle);
    EXPECT_EQ(co_await of(handle), nothing_there);
    EXPECT_EQ(sched_test::misuse_of([&] { handle.request_stop(); }), nothing_there);
    EXPECT_EQ(sched_test::misuse_of([&] { handle.detach(); }), nothing_there);
  });
  EXPECT_EQ(sched_test::misuse_of([] { (void)runq::spawn([] {}); }),
            "runq: go() was called outside a scheduler; use runq::run(), or a scheduler::handle");
}

TEST_F(spawning, a_run_may_end_while_tasks_wait_for_each_other) {
  for (const unsigned procs : sched_test::proc_counts) {
    runq::channel<int> never;  // a task may begin to wait for it while the run ends
    runq::run(
        [&]() -> task<> {
          runq::go([&]() -> task<> {
            auto inner = runq::spawn([&]() -> task<> { (void)co_await never.receive(); });
            co_await inner;
          });
          for (int i = 0; i != 10; ++i) co_await runq::yield();
        },
        {.procs = procs});
  }
}

TEST_F(when, SC7_all_results_come_back_in_order) {
  on_any_number_of_processors([]() -> task<> {
    const auto with_token = [](std::stop_token) { return number(3); };
    auto [one, none, three, text] =
        co_await runq::when_all(number(1), nothing(), with_token, []() -> task<std::string> { co_return "four"; }());
    EXPECT_EQ(one, 1);
    EXPECT_EQ(none, std::monostate());
    EXPECT_EQ(three, 3);
    EXPECT_EQ(text, "four");
    std::vector<task<int>> many;
    for (int i = 0; i != 5; ++i) many.push_back(number(i));
    EXPECT_THAT(co_await runq::when_all(std::move(many)), ElementsAre(0, 1, 2, 3, 4));
    EXPECT_EQ(co_await runq::when_all(), std::tuple<>());
  });
}

TEST_F(when, when_all_and_when_any_return_a_task) {
  on_any_number_of_processors([]() -> task<> {
    const auto both = []() -> task<std::tuple<int, int>> { return runq::when_all(number(1), number(2)); };
    EXPECT_EQ(co_await both(), std::tuple(1, 2));
    const auto nested = co_await runq::when_all(runq::when_all(number(1), number(2)));
    EXPECT_EQ(std::get<0>(nested), std::tuple(1, 2));
    const auto first = co_await runq::when_any(runq::when_any(number(3)));
    EXPECT_EQ(std::get<0>(std::get<0>(first)), 3);
    auto spawned = runq::spawn(runq::when_all(number(5)));
    EXPECT_EQ(co_await spawned, std::tuple(5));
    int sum = 0;
    runq::wait_group done;
    done.add(1);
    const auto adds = [&](int n) -> task<> {
      sum += n;
      done.done();
      co_return;
    };
    runq::go(runq::when_all(adds(4)));
    co_await done.wait();
    EXPECT_EQ(sum, 4);
  });
}

TEST_F(when, SC7_all_run_at_the_same_time) {
  on_any_number_of_processors([]() -> task<> {
    runq::channel<int> between;
    const auto first = [&]() -> task<> { co_await between.send(1); };
    const auto second = [&]() -> task<int> { co_return (co_await between.receive()).value(); };
    const auto results = co_await runq::when_all(second(), first());
    EXPECT_EQ(std::get<0>(results), 1);
  });
}

TEST_F(when, SC7_the_first_failure_stops_the_others_and_is_thrown) {
  on_any_number_of_processors([]() -> task<> {
    const auto all = [] { return runq::when_all(fails("fell"), until_stopped); };
    EXPECT_EQ(co_await failure_of(all), "fell");
    const auto any = [] { return runq::when_any(until_stopped, fails("fell first")); };
    EXPECT_EQ(co_await failure_of(any), "fell first");
  });
}

TEST_F(when, SC7_any_returns_the_first_result_when_the_others_have_ended) {
  on_any_number_of_processors([]() -> task<> {
    for (std::size_t round = 0; round != sched_test::rounds(500); ++round) {
      bool other_ended = false;
      const auto stubborn = [&](std::stop_token stop) -> task<int> {
        (void)co_await runq::select(std::move(stop));
        co_await runq::yield();
        other_ended = true;
        throw std::runtime_error("too late to matter");
      };
      const auto result = co_await runq::when_any(stubborn, nothing(), until_stopped);
      EXPECT_EQ(result.index(), 1u);
      EXPECT_TRUE(other_ended);
    }
    std::vector<std::function<task<int>(std::stop_token)>> many(3, until_stopped);
    many[2] = [](const std::stop_token&) { return number(9); };
    EXPECT_EQ(co_await runq::when_any(std::move(many)), std::pair(std::size_t{2}, 9));
  });
}

/// Throws when it is moved for the `moves_left`-th time.
struct counts_moves {
  explicit counts_moves(int n) : moves_left(n) {}
  counts_moves(counts_moves&& other) noexcept(false) : moves_left(other.moves_left - 1) {
    if (moves_left == 0) throw std::runtime_error("of the move");
  }
  counts_moves& operator=(counts_moves&&) = delete;
  ~counts_moves() = default;
  int moves_left;
};

// Wherever on its way it is when that happens, also when it is known to be the first.
TEST_F(when, a_first_result_that_cannot_be_moved_is_a_failure) {
  int failures = 0;
  bool succeeded = false;
  for (int n = 1; n != 30 && !succeeded; ++n) {
    runq::run([&]() -> task<> {
      const auto moves = [n](const std::stop_token&) -> task<counts_moves> { co_return counts_moves(n); };
      const auto waits = [](std::stop_token stop) -> task<> { co_await runq::sleep_for(1h, std::move(stop)); };
      try {
        auto first = co_await runq::when_any(moves, waits);
        succeeded = first.index() == 0;
      } catch (const std::runtime_error& e) {
        EXPECT_STREQ(e.what(), "of the move");
        ++failures;
      }
    });
  }
  EXPECT_TRUE(succeeded);
  EXPECT_GE(failures, 4);
}

TEST_F(when, only_one_is_the_first) {
  on_any_number_of_processors([]() -> task<> {
    for (std::size_t round = 0; round != sched_test::rounds(500); ++round) {
      std::vector<task<int>> many;
      for (int i = 0; i != 8; ++i) many.push_back(number(i));
      const auto [which, result] = co_await runq::when_any(std::move(many));
      EXPECT_EQ(static_cast<int>(which), result);
    }
  });
}

TEST_F(when, SC7_an_outer_request_stops_all) {
  on_any_number_of_processors([]() -> task<> {
    const char* const cancelled = runq::cancelled().what();
    std::stop_source asked;
    asked.request_stop();
    const auto all = [&] { return runq::when_all(asked.get_token(), until_stopped, number(1)); };
    EXPECT_EQ(co_await failure_of(all), cancelled);
    const auto any = [&] { return runq::when_any(asked.get_token(), until_stopped, until_stopped); };
    EXPECT_EQ(co_await failure_of(any), cancelled);
    const auto has_a_result = co_await runq::when_any(asked.get_token(), until_stopped, number(4));
    EXPECT_EQ(std::get<1>(has_a_result), 4);
    // The result comes first, and the token stops while the others are waited for.
    std::stop_source late;
    const auto ends_late = [&](std::stop_token stop) -> task<int> {
      std::stop_callback also(stop, [&] { late.request_stop(); });
      co_return co_await until_stopped(stop);
    };
    const auto keeps_it = co_await runq::when_any(late.get_token(), ends_late, number(5));
    EXPECT_EQ(std::get<1>(keeps_it), 5);
  });
}

TEST_F(when, any_of_nothing_is_refused) {
  runq::run([]() -> task<> {
    const auto none = [] { return runq::when_any(std::vector<task<int>>()); };
    EXPECT_EQ(co_await failure_of(none), "runq: when_any() was given nothing to wait for");
  });
}

}  // namespace
