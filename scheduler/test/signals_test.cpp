// SPDX-License-Identifier: MIT
// signals: signals of the process as values of a channel. Row S16.

#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <runq/detail/signal_pipe.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "support.hpp"

namespace {

using runq::signals;
using runq::task;
using sched_test::misuse_of;

class process_signals : public sched_test::alarmed {
 protected:
  template <class F>
  static void on_any_number_of_processors(F&& f) {
    for (const unsigned procs : sched_test::proc_counts) runq::run(f, {.procs = procs});
  }
  [[nodiscard]] static auto handler_of(int number) {
    struct sigaction now {};
    sigaction(number, nullptr, &now);
    return now.sa_handler;
  }
};

TEST_F(process_signals, S16_their_numbers_come_out_of_the_channel_in_order) {
  on_any_number_of_processors([]() -> task<> {
    const signals here({SIGUSR1, SIGUSR2});
    for (int round = 0; round != 10; ++round) {
      for (const int number : {SIGUSR1, SIGUSR2}) {
        std::raise(number);
        EXPECT_EQ(co_await here.received().receive(), number);
      }
    }
    std::raise(SIGUSR2);
    std::raise(SIGUSR1);
    std::optional<int> number;
    EXPECT_EQ(co_await runq::select(runq::on_receive(here.received(), number)), 0u);
    EXPECT_EQ(number, SIGUSR2);
    EXPECT_EQ(co_await here.received().receive(), SIGUSR1);
  });
}

TEST_F(process_signals, S16_at_its_end_the_signals_do_what_they_did_before) {
  const auto before = handler_of(SIGUSR1);
  on_any_number_of_processors([&]() -> task<> {
    {
      const signals here({SIGUSR1, SIGUSR1});
      EXPECT_NE(handler_of(SIGUSR1), before);
      std::raise(SIGUSR1);
      EXPECT_EQ(co_await here.received().receive(), SIGUSR1);
    }
    EXPECT_EQ(handler_of(SIGUSR1), before);
  });
}

TEST_F(process_signals, one_after_the_other) {
  on_any_number_of_processors([]() -> task<> {
    for (int round = 0; round != 20; ++round) {
      const signals here({SIGUSR1});
      std::raise(SIGUSR1);
      EXPECT_EQ(co_await here.received().receive(), SIGUSR1) << round;
    }
  });
}

TEST_F(process_signals, what_one_has_not_received_is_not_for_the_next) {
  runq::run(
      []() -> task<> {
        for (int round = 0; round != 20; ++round) {
          {
            const signals here({SIGUSR1});
            for (int i = 0; i != round; ++i) co_await runq::yield();
            std::raise(SIGUSR1);
          }
          const signals both({SIGUSR1, SIGUSR2});
          std::raise(SIGUSR2);
          EXPECT_EQ(co_await both.received().receive(), SIGUSR2) << round;
        }
      },
      {.procs = 1});
}

// The task of an object that has ended reads what was meant for the next object: it has not run before.
TEST_F(process_signals, the_task_of_an_earlier_object_hands_on_what_is_for_the_next) {
  runq::run(
      []() -> task<> {
        { const signals earlier({SIGUSR1, SIGUSR2}); }
        const signals here({SIGUSR1, SIGUSR2});
        // The last task that was started runs first, and the others in their order: the earlier object's is before
        // ours.
        runq::go([] {});
        std::raise(SIGUSR1);
        std::raise(SIGUSR2);
        EXPECT_EQ(co_await here.received().receive(), SIGUSR1);
        EXPECT_EQ(co_await here.received().receive(), SIGUSR2);
      },
      {.procs = 1});
}

TEST_F(process_signals, however_many_one_has_not_received_the_next_has_none_of_them) {
  runq::run(
      []() -> task<> {
        {
          const signals earlier({SIGUSR1});
          for (int i = 0; i != 200; ++i) std::raise(SIGUSR1);
        }
        const signals here({SIGUSR1, SIGUSR2});
        std::raise(SIGUSR2);
        EXPECT_EQ(co_await here.received().receive(), SIGUSR2);
      },
      {.procs = 1});
}

// An earlier object's task may put a number back that this object was not asked for.
TEST_F(process_signals, numbers_that_an_object_was_not_given_do_not_come_out) {
  runq::run([]() -> task<> {
    const signals here({SIGUSR1});
    const char foreign = SIGUSR2;
    EXPECT_EQ(write(runq::detail::signal_source<signals>::pipe().ends[1], &foreign, 1), 1);
    std::raise(SIGUSR1);
    EXPECT_EQ(co_await here.received().receive(), SIGUSR1);
  });
}

// A child of fork() shares the pipe.
TEST_F(process_signals, those_of_a_forked_child_are_not_ours) {
  if (RUNQ_TEST_TSAN) GTEST_SKIP() << "ThreadSanitizer does not let a program with threads fork";
  runq::run([]() -> task<> {
    const signals here({SIGUSR1, SIGUSR2});
    const pid_t child = fork();
    if (child == 0) {
      std::raise(SIGUSR1);
      std::_Exit(0);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    std::raise(SIGUSR2);
    EXPECT_EQ(co_await here.received().receive(), SIGUSR2);
  });
}

TEST_F(process_signals, programs_that_the_process_starts_get_no_descriptor) {
  const auto flags_of = [] {
    std::vector<int> flags(1024);
    for (int fd = 0; fd != static_cast<int>(flags.size()); ++fd)
      flags[static_cast<std::size_t>(fd)] = fcntl(fd, F_GETFD);
    return flags;
  };
  runq::run([&]() -> task<> {
    const auto& pipe = runq::detail::signal_source<signals>::pipe();
    for (const int end : pipe.ends) EXPECT_EQ(fcntl(end, F_GETFD), FD_CLOEXEC);
    const auto before = flags_of();
    const signals here({SIGUSR1});
    const auto now = flags_of();
    EXPECT_NE(now, before) << "it has a descriptor of its own";
    for (std::size_t fd = 0; fd != now.size(); ++fd) {
      EXPECT_TRUE(now[fd] == before[fd] || now[fd] == FD_CLOEXEC) << fd;
    }
    co_return;
  });
}

TEST_F(process_signals, those_that_come_when_the_channel_is_full_are_dropped) {
  on_any_number_of_processors([]() -> task<> {
    const signals here({SIGUSR1, SIGUSR2});
    for (std::size_t i = 0; i != signals::room; ++i) std::raise(SIGUSR1);
    while (here.received().size() != signals::room) co_await runq::yield();
    for (int i = 0; i != 3; ++i) std::raise(SIGUSR1);
    for (std::size_t i = 0; i != signals::room; ++i) EXPECT_EQ(co_await here.received().receive(), SIGUSR1);
    int left = 0;  // those that were read when there was room again
    for (std::raise(SIGUSR2); co_await here.received().receive() == SIGUSR1;) ++left;
    EXPECT_LE(left, 3);
  });
}

TEST_F(process_signals, a_task_that_waits_for_one_is_no_deadlock_and_the_run_may_end) {
  on_any_number_of_processors([]() -> task<> {
    runq::go([]() -> task<> {
      const signals here({SIGUSR1});
      (void)co_await here.received().receive();
      ADD_FAILURE() << "there was no signal";
    });
    for (int i = 0; i != 10; ++i) co_await runq::yield();
  });
}

TEST_F(process_signals, misuse_is_refused_and_changes_nothing) {
  const auto before = handler_of(SIGUSR1);
  EXPECT_EQ(misuse_of([] { signals({SIGUSR1}); }), "runq: runq::signals was made outside a task");
  runq::run([&]() -> task<> {
    EXPECT_EQ(misuse_of([] { signals({}); }), "runq: runq::signals was given no signal");
    for (const int number : {SIGKILL, 0, 1000}) {
      EXPECT_EQ(misuse_of([&] {
                  signals({SIGUSR1, number});
                }),
                "runq: runq::signals was given " + std::to_string(number) + ", which is no signal that can be caught");
      EXPECT_EQ(handler_of(SIGUSR1), before);
    }
    const signals here({SIGUSR1});
    EXPECT_EQ(misuse_of([] { signals({SIGUSR2}); }),
              "runq: there is a runq::signals already; give that one all signals");
    co_return;
  });
  EXPECT_EQ(handler_of(SIGUSR1), before);
}

}  // namespace
