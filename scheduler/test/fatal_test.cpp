// SPDX-License-Identifier: MIT
// When a scheduler ends its process, and when it must not: deadlocks, panics, too many threads. Rows L4, L6, L7, X12
// and X13.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "support.hpp"

namespace {

using runq::channel;
using runq::task;
using testing::ContainsRegex;

std::string deadlock(const std::string& first_task) {
  return sched_test::deadlock_line + ("goroutine 1 \\[" + first_task + "\\]:\n");
}

// ---- deadlocks ------------------------------------------------------------------------------------------------------

task<> greetings_and_then_nothing() {
  for (int i = 0; i != 10; ++i) {
    runq::go([i] { std::printf("hello from %d\n", i); });
  }
  (void)co_await runq::select();
}

TEST(fatal, L4_an_empty_select_lets_the_others_greet_and_is_a_deadlock_then) {
  for (const unsigned procs : {1U, 4U}) {
    RUNQ_EXPECT_STATUS_2(
        {
          sched_test::stdout_to_stderr();
          runq::run(greetings_and_then_nothing(), {.procs = procs});
        },
        ContainsRegex("^(hello from [0-9]\n){10}fatal error: all goroutines are asleep - deadlock!\n\n"
                      "goroutine 1 \\[select \\(no cases\\)\\]:\nmain\n\t[^\n]*fatal_test\\.cpp:[0-9]+\n\nNo thread"));
  }
}

task<> print_number(int from, int to, channel<int>& done) {
  for (int n = from; n <= to; ++n) std::printf("%d\n", n);
  co_await done.send(0);
}

task<> one_receive_too_many() {
  channel<int> done(3);
  runq::go(print_number(1, 3, done));
  runq::go(print_number(4, 6, done));
  for (int i = 0; i != 3; ++i) (void)co_await done.receive();
}

TEST(fatal, L6_one_receive_more_prints_all_and_is_a_deadlock_then) {
  RUNQ_EXPECT_STATUS_2(
      {
        sched_test::stdout_to_stderr();
        runq::run(one_receive_too_many(), {.procs = 1});
      },
      ContainsRegex("^4\n5\n6\n1\n2\n3\nfatal error: all goroutines are asleep - deadlock!\n\n"
                    "goroutine 1 \\[chan receive\\]:\nmain\n\t[^\n]*fatal_test\\.cpp:[0-9]+\n\nNo thread"));
}

TEST(fatal, L7_simple_deadlock) {
  RUNQ_EXPECT_STATUS_2(runq::run([]() -> task<> { (void)co_await runq::select(); }),
                       ContainsRegex(deadlock("select \\(no cases\\)")));
}

TEST(fatal, L7_a_receive_that_nobody_answers) {
  RUNQ_EXPECT_STATUS_2(runq::run([]() -> task<> {
                         channel<int> c;
                         (void)co_await c.receive();
                       }),
                       ContainsRegex(deadlock("chan receive")));
}

TEST(fatal, L7_a_send_that_nobody_answers) {
  RUNQ_EXPECT_STATUS_2(runq::run([]() -> task<> {
                         channel<int> c;
                         co_await c.send(1);
                       }),
                       ContainsRegex(deadlock("chan send")));
}

TEST(fatal, L7_a_select_that_nobody_answers) {
  RUNQ_EXPECT_STATUS_2(runq::run([]() -> task<> {
                         channel<int> c;
                         std::optional<int> v;
                         (void)co_await runq::select(runq::on_receive(c, v), runq::on_send(c, 1));
                       }),
                       ContainsRegex(deadlock("select")));
}

TEST(fatal, X7_a_null_channel_blocks_for_ever) {
  RUNQ_EXPECT_STATUS_2(runq::run([]() -> task<> {
                         channel<int>* const none = nullptr;
                         std::optional<int> v;
                         (void)co_await runq::select(runq::on_receive(none, v), runq::on_send(none, 1));
                       }),
                       ContainsRegex(deadlock("select")));
}

TEST(fatal, L7_a_wait_group_that_is_never_done) {
  RUNQ_EXPECT_STATUS_2(runq::run([]() -> task<> {
                         runq::wait_group group;
                         group.add(1);
                         co_await group.wait();
                       }),
                       ContainsRegex(deadlock("semacquire")));
}

TEST(fatal, L7_a_mutex_that_is_never_unlocked) {
  RUNQ_EXPECT_STATUS_2(runq::run([]() -> task<> {
                         runq::mutex m;
                         co_await m.lock();
                         co_await m.lock();
                       }),
                       ContainsRegex(deadlock("sync\\.Mutex\\.Lock")));
}

TEST(fatal, L7_a_join_whose_child_waits_for_ever) {
  for (const auto policy : {runq::fork_policy::continuation, runq::fork_policy::child, runq::fork_policy::task}) {
    RUNQ_EXPECT_STATUS_2(runq::run(
                             []() -> task<> {
                               channel<int> never;
                               const auto wait = [&never]() -> task<> { (void)co_await never.receive(); };
                               co_await runq::fork(wait());
                               co_await runq::join();
                             },
                             {.procs = 2, .forks = policy}),
                         ContainsRegex("^fatal error: all goroutines are asleep - deadlock!\n\n(.|\n)*chan receive"));
  }
}

TEST(fatal, L7_tasks_that_wait_for_each_other_are_all_named) {
  RUNQ_EXPECT_STATUS_2(runq::run(
                           []() -> task<> {
                             channel<int> c;
                             runq::mutex m;
                             co_await m.lock();
                             runq::go([&]() -> task<> { (void)co_await c.receive(); }, "reader");
                             runq::go([&]() -> task<> { co_await m.lock(); }, "locker");
                             (void)co_await c.receive();
                           },
                           {.procs = 4}),
                       testing::AllOf(ContainsRegex(deadlock("chan receive")),
                                      ContainsRegex("goroutine [0-9]+ \\[chan receive\\]:\nreader\n"),
                                      ContainsRegex("goroutine [0-9]+ \\[sync\\.Mutex\\.Lock\\]:\nlocker\n")));
}

// The frame of the task that reads is destroyed at the end of the first run. In the second one nobody waits for the
// kernel.
TEST(fatal, L7_a_deadlock_is_found_after_a_run_that_ended_beside_a_task_that_read) {
  RUNQ_EXPECT_STATUS_2(
      {
        runq::scheduler s({.procs = 1});
        s.run([]() -> task<> {
          runq::go([]() -> task<> {
            auto [from, to] = runq::net::pipe();
            std::array<std::byte, 1> byte{};
            (void)co_await from.read(byte);
          });
          for (int i = 0; i != 100; ++i) co_await runq::yield();
        });
        s.run([]() -> task<> { (void)co_await runq::select(); });
      },
      ContainsRegex(sched_test::deadlock_line));
}

TEST(fatal, L7_a_deadlock_is_found_in_wait_and_when_the_last_handle_is_destroyed) {
  RUNQ_EXPECT_STATUS_2(
      {
        runq::scheduler s({.procs = 2});
        channel<int> never;
        s.attach().go([&]() -> task<> { (void)co_await never.receive(); });
        s.wait();
      },
      ContainsRegex("^fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 2 \\[chan "
                    "receive\\]:\n\t[^\n]*fatal_test\\.cpp:[0-9]+\n\nNo thread"));
  RUNQ_EXPECT_STATUS_2(
      {
        runq::scheduler s({.procs = 2});
        std::optional<runq::scheduler::handle> outside(s.attach());
        channel<int> never;
        std::thread leaver([&] {
          while (s.stats().idle_procs != 2 || s.stats().spawned == 0) std::this_thread::yield();
          outside.reset();
        });
        s.run([&]() -> task<> { (void)co_await never.receive(); });
        leaver.join();
      },
      ContainsRegex(deadlock("chan receive")));
}

TEST(fatal, L7_a_deadlock_is_found_when_the_last_running_task_ends) {
  RUNQ_EXPECT_STATUS_2(runq::run(
                           []() -> task<> {
                             channel<int> never;
                             for (int i = 0; i != 100; ++i) {
                               runq::go([]() -> task<> {
                                 for (int n = 0; n != 10; ++n) co_await runq::yield();
                               });
                             }
                             (void)co_await never.receive();
                           },
                           {.procs = 4}),
                       ContainsRegex(deadlock("chan receive")));
}

TEST(fatal, L7_no_deadlock_while_a_handle_is_attached) {
  runq::scheduler s({.procs = 2});
  channel<int> c;
  const auto outside = s.attach();
  std::thread sender([&, copy = outside] {
    EXPECT_TRUE(sched_test::comes_true([&] { return s.stats().idle_procs == 2 && s.stats().spawned == 1; }));
    while (c.try_send(7) != runq::channel_result::done) std::this_thread::yield();
  });
  EXPECT_EQ(s.run([&]() -> task<int> { co_return *co_await c.receive(); }), 7);
  sender.join();
}

TEST(fatal, L7_no_deadlock_while_a_task_waits_with_a_stop_token) {
  runq::scheduler s({.procs = 2});
  std::stop_source source;
  std::thread stopper([&] {
    EXPECT_TRUE(sched_test::comes_true([&] { return s.stats().idle_procs == 2 && s.stats().spawned == 1; }));
    source.request_stop();
  });
  s.run([&]() -> task<> { EXPECT_EQ(co_await runq::select(source.get_token()), runq::stopped); });
  stopper.join();
}

TEST(fatal, L7_a_stop_token_that_nobody_can_use_any_more_prevents_nothing) {
  RUNQ_EXPECT_STATUS_2(runq::run([]() -> task<> { (void)co_await runq::select(std::stop_token()); }),
                       ContainsRegex(deadlock("select \\(no cases\\)")));
  // A token hides a deadlock only while a task waits with it. Here an earlier select used one.
  RUNQ_EXPECT_STATUS_2(runq::run([]() -> task<> {
                         std::stop_source source;
                         channel<int> c(1);
                         co_await c.send(1);
                         std::optional<int> v;
                         (void)co_await runq::select(source.get_token(), runq::on_receive(c, v));
                         (void)co_await c.receive();
                       }),
                       ContainsRegex(deadlock("chan receive")));
}

// Three tasks begin to wait on one processor, each with a stop token: first c, then d, then a. The source of a's token
// is destroyed. A thread stops c, which wakes a and waits once more; a wakes d; then only c is left, until the thread
// stops it again.
TEST(fatal, L7_no_deadlock_while_one_of_many_stop_tokens_has_a_source) {
  runq::scheduler s({.procs = 1});
  std::stop_source of_c;
  std::stop_source of_c_again;
  std::stop_source of_d;
  std::optional<std::stop_source> of_a(std::in_place);
  std::thread stopper([&] {
    EXPECT_TRUE(sched_test::comes_true([&] { return s.stats().idle_procs == 1 && s.stats().spawned == 4; }));
    of_c.request_stop();
    EXPECT_TRUE(sched_test::comes_true([&] { return s.stats().idle_procs == 1 && s.stats().finished == 2; }));
    of_c_again.request_stop();
  });
  s.run([&]() -> task<> {
    channel<int> for_a;
    channel<int> for_d;
    channel<int> for_main;
    const auto wait = [](const std::stop_source& source, channel<int>& until_closed) -> task<std::size_t> {
      std::optional<int> v;
      co_return co_await runq::select(source.get_token(), runq::on_receive(until_closed, v));
    };
    runq::go([&]() -> task<> {
      EXPECT_EQ(co_await runq::select(of_c.get_token()), runq::stopped);
      for_a.close();
      EXPECT_EQ(co_await runq::select(of_c_again.get_token()), runq::stopped);
      for_main.close();
    });
    co_await runq::yield();
    runq::go([&]() -> task<> { EXPECT_NE(co_await wait(of_d, for_d), runq::stopped); });
    co_await runq::yield();
    runq::go([&]() -> task<> {
      EXPECT_NE(co_await wait(*of_a, for_a), runq::stopped);
      for_d.close();
    });
    co_await runq::yield();
    of_a.reset();
    (void)co_await for_main.receive();
  });
  stopper.join();
}

TEST(fatal, L7_stop_tokens_that_all_have_lost_their_sources_prevent_nothing) {
  RUNQ_EXPECT_STATUS_2(runq::run([]() -> task<> {
                         std::vector<std::stop_source> sources(3);
                         for (std::stop_source& source : sources) {
                           runq::go([token = source.get_token()]() -> task<> { (void)co_await runq::select(token); });
                         }
                         for (int i = 0; i != 10; ++i) co_await runq::yield();
                         sources.clear();
                         channel<int> c;
                         (void)co_await c.receive();
                       }),
                       ContainsRegex(deadlock("chan receive")));
}

// Tasks that wake each other are no deadlock, even if at times only one of them can run.
TEST(fatal, L7_no_deadlock_while_tasks_run) {
  for (const unsigned procs : sched_test::proc_counts) {
    runq::scheduler s({.procs = procs});
    for (std::size_t i = 0; i != sched_test::rounds(5'000); ++i) {
      s.run([]() -> task<> {
        channel<int> c;
        runq::wait_group group;
        group.add(2);
        runq::go([&]() -> task<> {
          co_await c.send(1);
          group.done();
        });
        runq::go([&]() -> task<> {
          (void)co_await c.receive();
          group.done();
        });
        co_await group.wait();
      });
    }
  }
}

// The machines go to sleep at the moment at which the main task is started.
TEST(fatal, L7_no_deadlock_while_main_is_being_started) {
  for (std::size_t i = 0; i != sched_test::rounds(10'000); ++i) {
    runq::scheduler s({.procs = 1 + static_cast<unsigned>(i % 3)});
    for (std::size_t k = i % 64 * 16; k != 0; --k) runq::std_atomics::pause();
    s.run([] {});
  }
}

// The machines go to sleep at the moment at which a thread outside requests a stop, which wakes the task.
TEST(fatal, L7_no_deadlock_while_a_stop_is_being_requested) {
  for (const unsigned procs : {1U, 3U}) {
    runq::scheduler s({.procs = procs});
    for (std::size_t i = 0; i != sched_test::rounds(5'000); ++i) {
      std::stop_source source;
      std::atomic<bool> begun{false};
      std::thread stopper([&] {
        while (!begun) std::this_thread::yield();
        for (std::size_t k = i % 64 * 16; k != 0; --k) runq::std_atomics::pause();
        source.request_stop();
      });
      s.run([&]() -> task<> {
        begun = true;
        EXPECT_EQ(co_await runq::select(source.get_token()), runq::stopped);
      });
      stopper.join();
    }
  }
}

TEST(fatal, L7_a_scheduler_without_tasks_is_no_deadlock) {
  runq::scheduler s({.procs = 2});
  EXPECT_TRUE(sched_test::comes_true([&] { return s.stats().idle_procs == 2; }));
  s.wait();
}

// ---- panics ---------------------------------------------------------------------------------------------------------

TEST(fatal, X12_an_exception_that_leaves_a_task_ends_the_process) {
  for (const unsigned procs : {1U, 4U}) {
    RUNQ_EXPECT_STATUS_2(runq::run(
                             []() -> task<> {
                               runq::go([] { throw std::runtime_error("boom"); }, "thrower");
                               (void)co_await runq::select();
                             },
                             {.procs = procs}),
                         ContainsRegex("^panic: boom\n\ngoroutine [0-9]+ \\[running\\]:\nthrower\n"
                                       "\tstarted at [^\n]*fatal_test.cpp:[0-9]+\n$"));
  }
}

constexpr int place_of_the_wait = __LINE__ + 2;
task<> throws_after_a_wait(channel<int>& signal) {
  (void)co_await signal.receive();
  throw std::runtime_error("too late");
}

TEST(fatal, X12_an_exception_after_a_wait_names_the_place_of_the_wait) {
  RUNQ_EXPECT_STATUS_2(runq::run(
                           []() -> task<> {
                             channel<int> signal;
                             runq::go(throws_after_a_wait(signal), "waiter");
                             co_await runq::yield();  // on one processor: the waiter waits now
                             co_await signal.send(1);
                             (void)co_await runq::select();
                           },
                           {.procs = 1}),
                       ContainsRegex("^panic: too late\n\ngoroutine [0-9]+ \\[running\\]:\nwaiter\n"
                                     "\tlast waited at [^\n]*fatal_test.cpp:" +
                                     std::to_string(place_of_the_wait) + "\n$"));
}

task<int> throws_at(int depth) {
  if (depth == 0) throw std::out_of_range("deep inside");
  co_return co_await throws_at(depth - 1);
}

TEST(fatal, X12_an_exception_of_a_coroutine_ends_the_process_also_from_deep_inside) {
  RUNQ_EXPECT_STATUS_2(runq::run([]() -> task<> {
                         runq::go(throws_at(10));
                         (void)co_await runq::select();
                       }),
                       ContainsRegex("^panic: deep inside\n\ngoroutine [0-9]+ \\[running\\]:\n"));
}

TEST(fatal, X12_what_is_no_std_exception_ends_the_process_too) {
  RUNQ_EXPECT_STATUS_2(runq::run([]() -> task<> {
                         runq::go([] { throw "a literal"; });
                         (void)co_await runq::select();
                       }),
                       ContainsRegex("^panic: a literal\n"));
  RUNQ_EXPECT_STATUS_2(runq::run([]() -> task<> {
                         runq::go([] { throw 1; });
                         (void)co_await runq::select();
                       }),
                       ContainsRegex("^panic: an exception that is no std::exception\n"));
}

TEST(fatal, X12_misuse_in_a_task_is_a_panic_with_gos_words) {
  RUNQ_EXPECT_STATUS_2(runq::run([]() -> task<> {
                         channel<int> c;
                         c.close();
                         runq::go([&]() -> task<> { co_await c.send(1); });
                         (void)co_await runq::select();
                       }),
                       ContainsRegex("^panic: send on closed channel\n"));
}

TEST(fatal, X12_an_exception_of_a_blocking_call_ends_the_process_on_whatever_thread_it_comes_back) {
  RUNQ_EXPECT_STATUS_2(runq::run(
                           []() -> task<> {
                             std::atomic<bool> ran{false};
                             const auto call = [&]() -> task<> {
                               co_await runq::blocking([&] {
                                 sched_test::hold_until([&] { return ran.load(); }, "another task");
                                 throw std::runtime_error("from the call");
                               });
                             };
                             runq::go(call, "caller");
                             runq::go([&] { ran = true; });
                             (void)co_await runq::select();
                           },
                           {.procs = 1}),
                       ContainsRegex("^panic: from the call\n\ngoroutine [0-9]+ \\[running\\]:\ncaller\n"));
}

TEST(fatal, X12_what_was_printed_before_is_not_lost) {
  RUNQ_EXPECT_STATUS_2(
      {
        sched_test::stdout_to_stderr();
        runq::run([]() -> task<> {
          std::printf("printed before\n");
          runq::go([] { throw std::runtime_error("boom"); });
          (void)co_await runq::select();
        });
      },
      ContainsRegex("^printed before\npanic: boom\n"));
}

// ---- the end of a program -------------------------------------------------------------------------------------------

TEST(fatal, L2_a_program_whose_main_returns_ends_with_status_0_and_prints_nothing_more) {
  GTEST_FLAG_SET(death_test_style, sched_test::death_test_style);
  for (const unsigned procs : {1U, 4U}) {
    EXPECT_EXIT(
        {
          sched_test::stdout_to_stderr();
          // These two outlive the tasks, because main may end while a task is about to wait.
          channel<int> never;
          std::atomic<int> begun{0};
          runq::run(
              [&]() -> task<> {
                for (int i = 0; i != 10; ++i) {
                  runq::go([&]() -> task<> {
                    ++begun;
                    (void)co_await never.receive();
                    std::printf("hello\n");
                  });
                }
                co_await sched_test::yield_until([&] { return begun == 10; });
              },
              {.procs = procs});
          std::exit(0);
        },
        testing::ExitedWithCode(0), "^$");
  }
}

// ---- threads --------------------------------------------------------------------------------------------------------

TEST(fatal, X13_too_many_threads_end_the_process) {
  RUNQ_EXPECT_STATUS_2(runq::run(
                           []() -> task<> {
                             std::atomic<bool> ran{false};
                             runq::go([&] { ran = true; });
                             sched_test::hold_until([&] { return ran.load(); }, "a second thread");
                             co_return;
                           },
                           {.procs = 2, .max_threads = 1}),
                       ContainsRegex("^runtime: program exceeds 1-thread limit\nfatal error: thread exhaustion\n"));
}

TEST(fatal, X13_as_many_threads_as_allowed_do_not_end_the_process) {
  runq::run(
      []() -> task<> {
        std::atomic<bool> ran{false};
        runq::go([&] { ran = true; });
        sched_test::hold_until([&] { return ran.load(); }, "a second thread");
        co_return;
      },
      {.procs = 2, .max_threads = 2});
}

}  // namespace
