// SPDX-License-Identifier: MIT
// options::dump_on: a signal prints what all tasks do, and the program goes on. Row S17.
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "resting.hpp"
#include "support.hpp"

namespace {

using runq::channel;
using runq::scheduler;
using runq::task;
using sched_test::comes_true;
using sched_test::misuse_of;

/// While it exists, stderr is a pipe, from which a test reads.
class stderr_pipe {
 public:
  stderr_pipe() : before_(dup(STDERR_FILENO)) {
    std::fflush(stderr);
    if (pipe(ends_.data()) != 0 || dup2(ends_[1], STDERR_FILENO) < 0) std::abort();
    close(ends_[1]);
  }
  stderr_pipe(const stderr_pipe&) = delete;
  stderr_pipe& operator=(const stderr_pipe&) = delete;
  ~stderr_pipe() {
    std::fflush(stderr);
    dup2(before_, STDERR_FILENO);
    close(before_);
    close(ends_[0]);
  }
  /// Reads until what was read has `n` times this text; blocks.
  [[nodiscard]] std::string read_until(std::string_view text, int n = 1) {
    std::string have;
    for (;;) {
      int found = 0;
      for (std::size_t at = 0; (at = have.find(text, at)) != std::string::npos; ++at) ++found;
      if (found >= n) return have;
      std::array<char, 4096> more{};
      const ssize_t got = read(ends_[0], more.data(), more.size());
      if (got <= 0) return have;
      have.append(more.data(), static_cast<std::size_t>(got));
    }
  }

 private:
  const int before_;
  std::array<int, 2> ends_{};
};

class dump_on : public sched_test::alarmed {
 protected:
  [[nodiscard]] static auto handler_of(int number) {
    struct sigaction now {};
    sigaction(number, nullptr, &now);
    return now.sa_handler;
  }
};

TEST_F(dump_on, S17_a_signal_prints_what_all_tasks_do_and_the_program_goes_on) {
  const auto before = handler_of(SIGQUIT);
  for (const unsigned procs : sched_test::proc_counts) {
    stderr_pipe text;
    runq::run(
        [&]() -> task<> {
          channel<int> never;
          runq::go([&never]() -> task<> { (void)co_await never.receive(); }, "waits");
          while (runq::this_scheduler().dump().find("[chan receive]:\nwaits\n") == std::string::npos) {
            co_await runq::yield();
          }
          for (int i = 0; i != 3; ++i) {
            std::raise(SIGQUIT);
            const std::string dump =
                co_await runq::blocking([&] { return text.read_until("[chan receive]:\nwaits\n"); });
            EXPECT_NE(dump.find("runq: what the tasks do, asked for by signal 3:\n\ngoroutine "), std::string::npos);
          }
        },
        {.procs = procs, .dump_on = SIGQUIT});
    EXPECT_EQ(handler_of(SIGQUIT), before);
  }
}

TEST_F(dump_on, S17_a_signal_prints_it_also_when_no_task_can_run) {
  stderr_pipe text;
  std::atomic<bool> spins{false};
  std::atomic<bool> seen{false};
  std::thread watcher([&] {
    while (!spins) std::this_thread::yield();
    // To this thread, not to the process: clang++'s ThreadSanitizer loses a signal that arrives at a thread whose start
    // is not complete, and machines may start now.
    std::raise(SIGUSR1);
    const std::string dump = text.read_until("\n\n", 2);
    seen = dump.find("[running]:\nmain\n") != std::string::npos;
    EXPECT_TRUE(seen) << dump;
    seen = true;
  });
  runq::run(
      [&]() -> task<> {
        spins = true;
        while (!seen) std::this_thread::yield();
        co_return;
      },
      {.procs = 1, .dump_on = SIGUSR1});
  watcher.join();
}

TEST_F(dump_on, several_schedulers_may_have_the_same_signal_or_others) {
  const auto before = handler_of(SIGUSR1);
  stderr_pipe text;
  {
    scheduler a({.procs = 1, .dump_on = SIGUSR1});
    scheduler b({.procs = 1, .dump_on = SIGUSR1});
    scheduler other({.procs = 1, .dump_on = SIGUSR2});
    scheduler none({.procs = 1});
    a.run([&]() -> task<> {
      std::raise(SIGUSR1);
      const std::string both =
          co_await runq::blocking([&] { return text.read_until("asked for by signal " + std::to_string(SIGUSR1), 2); });
      EXPECT_EQ(both.find("signal " + std::to_string(SIGUSR2)), std::string::npos);
      std::raise(SIGUSR2);
      (void)co_await runq::blocking([&] { return text.read_until("signal " + std::to_string(SIGUSR2)); });
    });
    EXPECT_NE(handler_of(SIGUSR1), before);
  }
  EXPECT_EQ(handler_of(SIGUSR1), before);
}

/// How many threads of this process print dumps.
std::size_t threads_that_dump() { return sched_test::threads_named("runq dumps"); }

// A thread that was joined is listed for a moment more.
TEST_F(dump_on, its_thread_ends_with_the_last_scheduler) {
  EXPECT_TRUE(comes_true([] { return threads_that_dump() == 0; }));
  for (int i = 0; i != 3; ++i) {
    {
      const scheduler s({.procs = 1, .dump_on = SIGUSR1});
      const scheduler other({.procs = 1, .dump_on = SIGUSR2});
      EXPECT_TRUE(comes_true([] { return threads_that_dump() == 1; }));
    }
    EXPECT_TRUE(comes_true([] { return threads_that_dump() == 0; }));
  }
}

// The program may install our handler again later, as it does with one that it has found. What comes then is nobody's.
TEST_F(dump_on, a_signal_that_came_while_no_scheduler_wanted_it_prints_nothing_later) {
  struct sigaction ours {};
  {
    const scheduler s({.procs = 1, .dump_on = SIGUSR1});
    sigaction(SIGUSR1, nullptr, &ours);
  }
  struct sigaction before {};
  ASSERT_EQ(sigaction(SIGUSR1, &ours, &before), 0);
  std::raise(SIGUSR1);
  ASSERT_EQ(sigaction(SIGUSR1, &before, nullptr), 0);
  const std::string heading = "asked for by signal " + std::to_string(SIGUSR1);
  std::string said;
  {
    stderr_pipe text;
    {
      const scheduler s({.procs = 1, .dump_on = SIGUSR1});
      std::raise(SIGUSR1);
      said = text.read_until(heading);
    }
    // The thread that prints has ended.
    std::fputs("the end\n", stderr);
    std::fflush(stderr);
    said += text.read_until("the end\n");
  }
  EXPECT_EQ(said.find(heading), said.rfind(heading)) << said;
}

TEST_F(dump_on, waiting_tasks_are_a_deadlock_all_the_same) {
  RUNQ_EXPECT_STATUS_2(runq::run([]() -> task<> { (void)co_await runq::select(); }, {.procs = 2, .dump_on = SIGUSR1}),
                       testing::ContainsRegex(sched_test::deadlock_line));
}

TEST_F(dump_on, a_child_of_fork_may_have_its_own) {
#if RUNQ_TEST_TSAN
  GTEST_SKIP() << "ThreadSanitizer ends a process with threads that forks";
#endif
  const scheduler parents({.procs = 1, .dump_on = SIGUSR1});
  // g++ 12's AddressSanitizer leaves the locks of its allocator to the child process as they are: one that a thread of
  // the parent holds, because it has just begun, stays locked.
  if (RUNQ_TEST_ASAN != 0) {
    ASSERT_TRUE(sched_test::other_threads_come_to_rest());
  }
  const pid_t child = fork();
  if (child == 0) {
    bool printed = false;
    {
      stderr_pipe text;
      runq::run(
          [&]() -> task<> {
            std::raise(SIGUSR1);
            const std::string dump = co_await runq::blocking([&] { return text.read_until("main\n"); });
            printed = dump.find("goroutine 1 ") != std::string::npos;
          },
          {.procs = 1, .dump_on = SIGUSR1});
    }
    std::_Exit(printed ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST_F(dump_on, a_number_that_cannot_be_caught_is_refused) {
  for (const int number : {SIGKILL, SIGSTOP, -1, 1000}) {
    EXPECT_EQ(misuse_of([&] { scheduler({.procs = 1, .dump_on = number}); }),
              "runq: options::dump_on must be 0 or a signal that can be caught");
  }
}

}  // namespace
