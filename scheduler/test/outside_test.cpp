// SPDX-License-Identifier: MIT
// Threads outside a scheduler: what they start, wake and wait for by a handle. Row SC14.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#include "support.hpp"

namespace {

using runq::channel;
using runq::scheduler;
using runq::task;
using runq::wait_group;
using sched_test::misuse_of;
using sched_test::rounds;

using outside = sched_test::alarmed;

/// Threads that are joined at the end.
class crowd {
 public:
  crowd() = default;
  crowd(const crowd&) = delete;
  crowd& operator=(const crowd&) = delete;
  ~crowd() { join(); }
  template <class F>
  void add(F&& f) {
    threads_.emplace_back(std::forward<F>(f));
  }
  void join() {
    for (std::thread& t : threads_) t.join();
    threads_.clear();
  }

 private:
  std::vector<std::thread> threads_;
};

// ---- waking tasks ---------------------------------------------------------------------------------------------------

TEST_F(outside, SC14_a_thread_with_a_handle_may_be_the_only_one_that_wakes_a_task) {
  for (const unsigned procs : {1U, 4U}) {
    crowd threads;  // with handles that may outlive the scheduler
    wait_group group;
    runq::run(
        [&]() -> task<> {
          group.add(1);
          threads.add([&group, &s = runq::this_scheduler(), here = runq::this_task::handle()] {
            // Only this thread will wake the task from now on.
            while (s.stats().idle_procs != s.procs()) std::this_thread::yield();
            group.done();
          });
          co_await group.wait();
        },
        {.procs = procs});
  }
}

TEST_F(outside, SC14_the_message_of_a_deadlock_says_what_a_thread_outside_needs) {
  RUNQ_EXPECT_STATUS_2(
      runq::run([]() -> task<> {
        wait_group group;
        group.add(1);
        co_await group.wait();
      }),
      testing::ContainsRegex("goroutine 1 \\[semacquire\\]:\nmain\n\t[^\n]*outside_test\\.cpp:[0-9]+\n\n"
                             "No thread outside holds a handle\\. If one is to wake a task, give it "
                             "runq::this_task::handle\\(\\)\\.\n$"));
}

// ---- threads without a handle ---------------------------------------------------------------------------------------

TEST_F(outside, SC14_a_thread_without_a_handle_may_wake_the_tasks_too) {
  for (const unsigned procs : {1U, 4U}) {
    scheduler s({.procs = procs});
    for (std::size_t i = 0; i != rounds(1'000); ++i) {
      crowd threads;
      s.run([&]() -> task<> {
        wait_group group;
        group.add(1);
        threads.add([&] {
          // Every other time only this thread will wake the task.
          while (i % 2 == 0 && s.stats().idle_procs != procs) std::this_thread::yield();
          group.done();
        });
        co_await group.wait();
      });
    }
  }
}

/// Not with operator+, in which g++ 12 sees a copy out of bounds where there is none.
auto deadlock_of(const char* tasks) {
  return testing::ContainsRegex(std::string(sched_test::deadlock_line).append(tasks));
}

TEST_F(outside, SC14_a_thread_without_a_handle_that_ends_hides_no_deadlock) {
  RUNQ_EXPECT_STATUS_2(
      {
        crowd threads;
        runq::run([&]() -> task<> {
          wait_group group;
          group.add(2);
          threads.add([&group, &s = runq::this_scheduler()] {
            while (s.stats().idle_procs != s.procs()) std::this_thread::yield();
            group.done();
          });
          co_await group.wait();
        });
      },
      deadlock_of("goroutine 1 \\[semacquire\\]:\nmain\n"));
}

TEST_F(outside, SC14_a_thread_without_a_handle_hides_no_deadlock_if_it_is_said_to_wake_no_task) {
  RUNQ_EXPECT_STATUS_2(
      {
        std::atomic<bool> never{false};
        crowd threads;
        threads.add([&] { never.wait(false); });
        runq::run([]() -> task<> { (void)co_await runq::select(); },
                  {.threads_without_handle = runq::plain_threads::wake_no_task});
      },
      deadlock_of("goroutine 1 \\[select \\(no cases\\)\\]:\nmain\n"));
}

// The thread wakes the task as soon as it has read what the scheduler prints.
TEST_F(outside, SC14_tasks_that_wait_for_a_thread_without_a_handle_are_named) {
  testing::internal::CaptureStderr();
  const int captured = dup(STDERR_FILENO);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  dup2(ends[1], STDERR_FILENO);
  close(ends[1]);
  std::string report;
  crowd threads;
  runq::run([&]() -> task<> {
    wait_group group;
    group.add(1);
    threads.add([&] {
      char c = 0;
      while (report.find("options::threads_without_handle.\n") == std::string::npos && read(ends[0], &c, 1) == 1) {
        report += c;
      }
      group.done();
    });
    co_await group.wait();
  });
  dup2(captured, STDERR_FILENO);
  close(captured);
  close(ends[0]);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_THAT(report, testing::MatchesRegex(
                          "runq: warning: all goroutines are asleep - a deadlock, unless a thread without a handle "
                          "wakes one:\n\ngoroutine 1 \\[semacquire\\]:\nmain\n\t[^\n]*outside_test\\.cpp:[0-9]+\n\nThe "
                          "run goes on, [^\n]*\n"));
}

// ---- waiting for tasks ----------------------------------------------------------------------------------------------

TEST_F(outside, SC14_block_on_returns_what_a_task_a_function_or_an_awaitable_returns) {
  scheduler s({.procs = 2});
  const auto here = s.attach();
  const auto seven = []() -> task<int> {
    co_await runq::yield();
    co_return 7;
  };
  channel<std::string> c(1);
  wait_group none;
  EXPECT_EQ(here.block_on(seven()), 7);
  EXPECT_EQ(here.block_on(seven), 7);
  EXPECT_EQ(here.block_on([] { return 8; }), 8);
  here.block_on([&] { return c.send("text"); });
  EXPECT_EQ(here.block_on([&] { return c.receive(); }), "text");
  here.block_on([&] { return none.wait(); });
  here.block_on([] { return runq::sleep_for(std::chrono::nanoseconds(1)); });
  here.block_on([] {});
  const auto moved = here.block_on([p = std::make_unique<int>(3)]() mutable { return std::move(p); });
  EXPECT_EQ(*moved, 3);
}

TEST_F(outside, SC14_block_on_throws_what_leaves_the_task) {
  scheduler s({.procs = 1});
  const auto here = s.attach();
  EXPECT_THROW(here.block_on([] { throw std::runtime_error("here"); }), std::runtime_error);
  EXPECT_THROW(here.block_on([]() -> task<int> {
    co_await runq::yield();
    throw std::out_of_range("there");
  }),
               std::out_of_range);
  EXPECT_THROW(here.block_on([]() -> task<> { throw runq::cancelled(); }), runq::cancelled);
}

TEST_F(outside, SC14_what_block_on_was_given_is_destroyed_when_it_returns) {
  scheduler s({.procs = 2});
  const auto here = s.attach();
  for (std::size_t i = 0; i != rounds(2'000); ++i) {
    int gone = 0;  // on this thread's stack: the task must not touch it later
    struct owner {
      explicit owner(int* n) noexcept : n_(n) {}
      owner(owner&& other) noexcept : n_(std::exchange(other.n_, nullptr)) {}
      owner& operator=(owner&&) = delete;
      ~owner() {
        if (n_ != nullptr) ++*n_;
      }
      int* n_;
    };
    here.block_on([kept = owner(&gone)] {});
    ASSERT_EQ(gone, 1);
  }
}

TEST_F(outside, SC14_many_threads_send_and_receive_at_the_same_time) {
  constexpr int threads = 8;
  const int each = static_cast<int>(rounds(1'000));
  for (const std::size_t capacity : {std::size_t{0}, std::size_t{2}}) {
    channel<int> to(capacity);
    channel<int> back(capacity);
    std::atomic<long> sum{0};
    {
      scheduler s({.procs = 4});
      crowd outsiders;
      s.run([&]() -> task<> {
        wait_group sent;
        sent.add(threads);
        for (int t = 0; t != threads; ++t) {
          outsiders.add([&, here = runq::this_task::handle()] {
            for (int i = 1; i <= each; ++i) here.send(to, i);
            here.wait(sent);  // after the last one is done
          });
          outsiders.add([&, here = runq::this_task::handle()] {
            while (const auto n = here.receive(back)) sum += *n;
          });
        }
        for (int i = 0; i != threads * each; ++i) co_await back.send(*co_await to.receive());
        sent.add(-threads);
        back.close();
        // Here a thread may still wait: main must not end before that.
        co_await runq::blocking([&] { outsiders.join(); });
      });
    }
    EXPECT_EQ(sum, long{threads} * each * (each + 1) / 2);
  }
}

TEST_F(outside, SC14_many_threads_run_tasks_and_wait_for_them) {
  const int each = static_cast<int>(rounds(2'000));
  scheduler s({.procs = 2});
  std::atomic<int> ran{0};
  {
    crowd threads;
    const auto shared = s.attach();  // one handle for all
    for (int t = 0; t != 8; ++t) {
      threads.add([&] {
        for (int i = 0; i != each; ++i) {
          ASSERT_EQ(shared.block_on([&, i]() -> task<int> {
            co_await runq::yield();
            ++ran;
            co_return i;
          }),
                    i);
        }
      });
    }
  }
  EXPECT_EQ(ran, 8 * each);
}

TEST_F(outside, SC14_a_closed_channel_is_for_threads_what_it_is_for_tasks) {
  scheduler s({.procs = 1});
  const auto here = s.attach();
  const auto c = runq::make_channel<int>(1);
  here.send(c, 1);
  c.close();
  EXPECT_EQ(here.receive(c), 1);
  EXPECT_EQ(here.receive(c), std::nullopt);
  EXPECT_EQ(misuse_of([&] { here.send(c, 2); }), "send on closed channel");
}

TEST_F(outside, SC14_send_leaves_nothing_behind_and_moves_once) {
  scheduler s({.procs = 1});
  const auto here = s.attach();
  channel<std::unique_ptr<int>> c;
  std::thread receiver([&, copy = here] { EXPECT_EQ(**copy.receive(c), 5); });
  here.send(c, std::make_unique<int>(5));
  receiver.join();
}

// ---- the end of a run and of a scheduler ----------------------------------------------------------------------------

TEST_F(outside, SC14_a_thread_that_waits_learns_of_the_end) {
  for (std::size_t i = 0; i != rounds(500); ++i) {
    channel<int> never;
    std::atomic<int> ended{0};
    crowd threads;
    {
      scheduler s({.procs = 2});
      for (int t = 0; t != 3; ++t) {
        threads.add([&, here = s.attach()] {
          try {
            (void)here.receive(never);
          } catch (const runq::run_ended&) {
            ++ended;
          }
        });
      }
      s.run([]() -> task<> { co_await runq::yield(); });
    }
    threads.join();
    ASSERT_EQ(ended, 3);
  }
}

TEST_F(outside, SC14_a_handle_may_outlive_its_scheduler_and_starts_nothing_then) {
  std::optional<scheduler::handle> left;
  {
    scheduler s({.procs = 1});
    left.emplace(s.attach());
  }
  const auto kept = std::make_shared<int>(0);
  left->go([kept] { ++*kept; });
  EXPECT_EQ(*kept, 0);
  EXPECT_EQ(kept.use_count(), 1);  // destroyed without having begun
  EXPECT_THROW(left->block_on([] {}), runq::run_ended);
  const scheduler::handle copy = *left;
  left.reset();
  channel<int> full;
  EXPECT_THROW(copy.send(full, 1), runq::run_ended);
}

TEST_F(outside, SC14_threads_start_tasks_while_the_scheduler_is_destroyed) {
  for (std::size_t i = 0; i != rounds(1'000); ++i) {
    const auto kept = std::make_shared<int>(0);
    crowd threads;
    {
      scheduler s({.procs = 2});
      for (int t = 0; t != 2; ++t) {
        threads.add([kept, here = s.attach()] {
          for (int n = 0; n != 20; ++n) here.go([kept, here] {});
        });
      }
    }
    threads.join();
    ASSERT_EQ(kept.use_count(), 1);  // no task is left, not even one that holds a handle
  }
}

// ---- misuse ---------------------------------------------------------------------------------------------------------

TEST_F(outside, SC14_a_task_cannot_wait_like_that) {
  const std::string text =
      "runq: block_on(), receive(), send() and wait() of a handle block their thread: a task co_awaits instead";
  runq::run([&]() -> task<> {
    const auto here = runq::this_task::handle();
    channel<int> c;
    EXPECT_EQ(misuse_of([&] { here.block_on([] {}); }), text);
    EXPECT_EQ(misuse_of([&] { (void)here.receive(c); }), text);
    EXPECT_EQ(misuse_of([&] { here.send(c, 1); }), text);
    co_return;
  });
}

TEST_F(outside, SC14_there_is_no_scheduler_and_no_handle_outside_a_task) {
  EXPECT_EQ(misuse_of([] { (void)runq::this_scheduler(); }),
            "runq: only a task can wait; this thread runs none, or is in a blocking_section");
  EXPECT_EQ(misuse_of([] { (void)runq::this_task::handle(); }),
            "runq: only a task can wait; this thread runs none, or is in a blocking_section");
}

TEST_F(outside, SC14_this_scheduler_is_the_one_that_runs_the_task) {
  scheduler s({.procs = 3});
  s.run([&]() -> task<> {
    EXPECT_EQ(&runq::this_scheduler(), &s);
    EXPECT_EQ(runq::this_scheduler().procs(), 3U);
    EXPECT_EQ(misuse_of([] { runq::this_scheduler().wait(); }), "runq: scheduler::wait() is not for tasks");
    co_return;
  });
}

}  // namespace
