// SPDX-License-Identifier: MIT
// The exact texts of the errors that a program gets when it breaks the library's rules.
#include <array>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include "support.hpp"

namespace {

using runq::task;
using sched_test::misuse_in_task;
using sched_test::misuse_in_task_void;
using sched_test::misuse_of;

task<int> answer() { co_return 42; }

TEST(misuse, go_outside_a_scheduler) {
  EXPECT_EQ(misuse_of([] { runq::go([] {}); }),
            "runq: go() was called outside a scheduler; use runq::run(), or a scheduler::handle");
}

TEST(misuse, a_task_awaited_outside_a_scheduler) {
  std::string text;
  [](std::string& what) -> sched_test::by_hand {
    try {
      (void)co_await answer();
    } catch (const runq::misuse& error) {
      what = error.what();
    }
  }(text);
  EXPECT_EQ(text, "runq: a task was awaited outside a scheduler; start it with runq::run()");
}

TEST(misuse, yield_outside_a_scheduler) {
  std::string text;
  [](std::string& what) -> sched_test::by_hand {
    try {
      co_await runq::yield();
    } catch (const runq::misuse& error) {
      what = error.what();
    }
  }(text);
  EXPECT_EQ(text, "runq: only a task can wait; this thread runs none, or is in a blocking_section");
}

TEST(misuse, a_read_outside_a_scheduler) {
  std::string text;
  runq::run([&]() -> runq::task<> {
    auto ends = runq::net::pipe();
    std::array<std::byte, 1> room{};
    auto read = ends.first.read(room);
    std::thread([&] {
      [](auto& awaited, std::string& what) -> sched_test::by_hand {
        try {
          (void)co_await awaited;
        } catch (const runq::misuse& error) {
          what = error.what();
        }
      }(read, text);
    }).join();
    co_return;
  });
  EXPECT_EQ(text, "runq: only a task can wait; this thread runs none, or is in a blocking_section");
}

// A thread in a blocking_section has no processor, so nothing can be awaited there.
TEST(misuse, forks_joins_and_scopes_in_a_blocking_section) {
  constexpr const char* text = "runq: only a task can wait; this thread runs none, or is in a blocking_section";
  runq::run([&]() -> task<> {
    const auto forks = []() -> task<> {
      const runq::blocking_section here;
      (void)co_await runq::fork(answer());
    };
    EXPECT_EQ(co_await misuse_in_task_void(forks), text);
    const auto joins = []() -> task<> {
      const runq::blocking_section here;
      co_await runq::join();
    };
    EXPECT_EQ(co_await misuse_in_task_void(joins), text);
    const auto body = [](runq::scope& s) -> task<> {
      s.go([] {});
      co_return;
    };
    const auto begins_a_scope = [&body]() -> task<> {
      const runq::blocking_section here;
      co_await runq::with_scope(body);
    };
    EXPECT_EQ(co_await misuse_in_task_void(begins_a_scope), text);
    EXPECT_EQ(co_await answer(), 42) << "the scheduler goes on";
  });
}

TEST(misuse, a_task_awaited_twice) {
  runq::run([]() -> task<> {
    const auto once = answer();
    EXPECT_EQ(co_await once, 42);
    EXPECT_EQ(co_await misuse_in_task([&] { return once.operator co_await(); }), "runq: a task was awaited twice");
  });
}

TEST(misuse, a_task_awaited_after_a_move) {
  runq::run([]() -> task<> {
    auto gone = answer();
    const auto moved = std::move(gone);
    EXPECT_EQ(co_await misuse_in_task([&] { return gone.operator co_await(); }),
              "runq: awaited a task that was moved from");
    EXPECT_EQ(co_await moved, 42);
  });
}

TEST(misuse, go_with_a_task_that_was_moved_from_or_awaited) {
  runq::run([]() -> task<> {
    auto gone = answer();
    const auto moved = std::move(gone);
    EXPECT_EQ(misuse_of([&] { runq::go(std::move(gone)); }), "runq: go() was given a task that was moved from");
    auto awaited = answer();
    (void)co_await awaited;
    EXPECT_EQ(misuse_of([&] { runq::go(std::move(awaited)); }), "runq: go() was given a task that was awaited");
  });
}

TEST(misuse, this_task_outside_a_scheduler) {
  constexpr const char* text = "runq: only a task can wait; this thread runs none, or is in a blocking_section";
  EXPECT_EQ(misuse_of([] { (void)runq::this_task::id(); }), text);
  EXPECT_EQ(misuse_of([] { (void)runq::this_task::name(); }), text);
  EXPECT_EQ(misuse_of([] { (void)runq::this_task::processor(); }), text);
  EXPECT_EQ(misuse_of([] { (void)runq::procs(); }), text);
  EXPECT_EQ(misuse_of([] { (void)runq::set_procs(1); }), text);
}

TEST(misuse, run_inside_run) {
  runq::run([] {
    EXPECT_EQ(misuse_of([] { runq::run([] {}); }),
              "runq: run() inside run(): a task cannot wait like that; use go() or co_await");
  });
}

TEST(misuse, wait_by_a_task) {
  runq::scheduler s;
  s.run([&] { EXPECT_EQ(misuse_of([&] { s.wait(); }), "runq: scheduler::wait() is not for tasks"); });
}

TEST(misuse, run_while_another_run_is_in_progress) {
  constexpr const char* text = "runq: run() or wait() was called while another is in progress";
  runq::scheduler s({.procs = 2});
  const auto outside = s.attach();
  runq::channel<int> go_on;
  std::thread first([&] { s.run([&]() -> task<> { (void)co_await go_on.receive(); }); });
  EXPECT_TRUE(sched_test::comes_true([&] { return s.stats().spawned == 1; }));
  const std::size_t before = runq::detail::frame_pool_bytes();
  for (int i = 0; i != 10'000; ++i) ASSERT_EQ(misuse_of([&] { s.run([] {}); }), text);
  EXPECT_LE(runq::detail::frame_pool_bytes() - before, 128U * 1024) << "the refused main tasks are destroyed";
  EXPECT_EQ(misuse_of([&] { s.wait(); }), text);
  while (go_on.try_send(1) != runq::channel_result::done) std::this_thread::yield();
  first.join();
  s.run([] {});
}

TEST(misuse, options_out_of_range) {
  EXPECT_EQ(misuse_of([] { runq::scheduler({.procs = 1025}); }),
            "runq: options::procs must be at most options::max_procs, 1024");
  EXPECT_EQ(misuse_of([] { runq::scheduler({.procs = 1, .max_threads = 0}); }),
            "runq: options::max_threads must be at least 1");
}

TEST(misuse, set_procs_out_of_range) {
  constexpr const char* text = "runq: set_procs() takes 1 … options::max_procs, 1024";
  runq::scheduler s({.procs = 2});
  EXPECT_EQ(misuse_of([&] { s.set_procs(0); }), text);
  EXPECT_EQ(misuse_of([&] { s.set_procs(1025); }), text);
  EXPECT_EQ(s.procs(), 2U);
}

TEST(misuse, an_environment_variable_that_is_no_number_of_processors) {
  for (const std::string value : {"", "0", "1025", "-1", "two", "2 ", " 2", "0x2", "99999999999999999999"}) {
    ::setenv("RUNQ_PROCS", value.c_str(), 1);
    const std::string text =
        "runq: the environment variable RUNQ_PROCS must be a number from 1 to 1024, but is \"" + value + "\"";
    EXPECT_EQ(misuse_of([] { (void)runq::default_procs(); }), text);
    EXPECT_EQ(misuse_of([] { runq::scheduler(); }), text);
    EXPECT_EQ(runq::scheduler({.procs = 3}).procs(), 3U) << "not asked for";
  }
  ::unsetenv("RUNQ_PROCS");
}

}  // namespace
