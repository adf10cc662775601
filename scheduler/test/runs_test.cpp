// SPDX-License-Identifier: MIT
// One run after the other: what the next run must not inherit, in which order tasks are destroyed at the end of one,
// and what the scheduler knows of those that wait for a stop request.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <runq/detail/core.hpp>

#include "support.hpp"

namespace {

using runq::channel;
using runq::channel_result;
using runq::scheduler;
using runq::task;
using sched_test::misuse_of;
using sched_test::wait_until;
using sched_test::yield_until;

class runs : public sched_test::alarmed {};

/// Calls a function when it is destroyed.
class when_destroyed {
 public:
  explicit when_destroyed(std::function<void()> f) : f_(std::move(f)) {}
  when_destroyed(when_destroyed&& other) noexcept : f_(std::exchange(other.f_, nullptr)) {}
  when_destroyed& operator=(when_destroyed&&) = delete;
  ~when_destroyed() {
    if (f_) f_();
  }

 private:
  std::function<void()> f_;
};

// The end of a run ends the time slice of every task for good.
TEST_F(runs, tasks_of_the_next_run_have_time_slices) {
  for (const unsigned procs : sched_test::proc_counts) {
    scheduler s({.procs = procs});
    for (int round = 0; round != 3; ++round) {
      s.run([]() -> task<> {
        // The monitor may end a slice while the thread does not run, but not each of them.
        co_await yield_until([] { return !runq::detail::time_slice_over(); });
      });
    }
  }
}

task<> waits_for_ever(channel<int>& c, when_destroyed what) {
  const when_destroyed held(std::move(what));
  (void)co_await c.receive();
}

TEST_F(runs, the_tasks_that_sleep_are_destroyed_after_all_others) {
  std::vector<std::string> order;
  channel<int> never;
  runq::run(
      [&]() -> task<> {
        const auto notes = [&order](const char* what) {
          return when_destroyed([&order, what] { order.emplace_back(what); });
        };
        runq::go(waits_for_ever(never, notes("sleeps")));
        runq::go([&]() -> task<> {
          const when_destroyed held(notes("has yielded"));
          for (;;) co_await runq::yield();
        });
        runq::go(waits_for_ever(never, notes("sleeps")));
        for (int i = 0; i != 3; ++i) co_await runq::yield();
        for (int i = 0; i != 2; ++i) runq::go(waits_for_ever(never, notes("has not begun")));
      },
      {.procs = 1});
  ASSERT_EQ(order.size(), 5U);
  const auto first_sleeper = std::find(order.begin(), order.end(), "sleeps");
  EXPECT_TRUE(std::all_of(first_sleeper, order.end(), [](const std::string& what) { return what == "sleeps"; }))
      << testing::PrintToString(order);
}

// A destructor at the end of a run starts a task from outside: it belongs to the next run. Its number is the first that
// was free when the destruction began.
TEST_F(runs, a_task_that_a_destructor_starts_by_a_handle_runs_after_the_run) {
  scheduler s({.procs = 1});
  channel<int> never;
  std::atomic<bool> ran{false};
  s.run([&]() -> task<> {
    const auto from_outside = runq::this_task::handle();
    runq::go(waits_for_ever(never, when_destroyed([from_outside, &ran] { from_outside.go([&ran] { ran = true; }); })));
    co_await runq::yield();
  });
  EXPECT_TRUE(sched_test::wait_for(ran));
}

// The tasks that a scheduler destroys at its own end start others, each of which starts one more when it is destroyed.
TEST_F(runs, what_destructors_start_by_a_handle_at_the_end_of_the_scheduler_is_destroyed) {
  std::atomic<int> destroyed{0};
  std::atomic<int> began{0};
  {
    channel<int> never;
    std::optional<scheduler> s(std::in_place, runq::options{.procs = 1});
    const auto outside = s->attach();
    std::function<void()> start = [&] {
      outside.go([&, end = when_destroyed([&] {
                       if (++destroyed < 3) start();
                     })]() -> task<> {
        ++began;
        co_await never.send(1);
      });
    };
    start();
    ASSERT_TRUE(wait_until([&] { return began == 1 && s->stats().idle_procs == 1; }));
    s.reset();
  }
  EXPECT_EQ(destroyed, 3);
  EXPECT_EQ(began, 1);
}

// No run and no main task: the task was started by a thread outside, and never has to wait.
TEST_F(runs, a_scheduler_ends_beside_a_task_whose_awaits_are_all_ready) {
  for (int round = 0; round != 3; ++round) {
    std::optional<scheduler> s(std::in_place, runq::options{.procs = 1});
    channel<int> has_room(1);
    std::atomic<bool> begun{false};
    s->attach().go([&]() -> task<> {
      for (;;) {
        begun = true;
        co_await has_room.send(1);
        (void)co_await has_room.receive();
      }
    });
    ASSERT_TRUE(sched_test::wait_for(begun));
    s.reset();
  }
}

// Nobody waits for these tasks, so they may wait for each other.
TEST_F(runs, L7_while_there_is_no_run_there_is_no_deadlock) {
  scheduler s({.procs = 1, .threads_without_handle = runq::plain_threads::wake_no_task});
  channel<int> never;
  std::atomic<bool> begun{false};
  {
    const auto outside = s.attach();
    outside.go([&]() -> task<> {
      begun = true;
      (void)co_await never.receive();
    });
    ASSERT_TRUE(sched_test::wait_for(begun));
    ASSERT_TRUE(wait_until([&] { return s.stats().idle_procs == 1; }));
  }
  // Without its handle the scheduler asks once more.
  EXPECT_EQ(never.try_send(1), channel_result::done);
  s.wait();
}

TEST_F(runs, wait_returns_after_a_run_that_destroyed_tasks) {
  scheduler s({.procs = 2});
  channel<int> never;
  for (int round = 0; round != 3; ++round) {
    s.run([&]() -> task<> {
      for (int i = 0; i != 5; ++i) runq::go([&]() -> task<> { (void)co_await never.receive(); });
      co_await runq::yield();
    });
    s.wait();
  }
}

TEST_F(runs, a_run_that_waits_for_all_ends_after_one_that_destroyed_tasks) {
  scheduler s({.procs = 2, .until = runq::run_until::all_have_ended});
  channel<int> never;
  std::atomic<int> ended{0};
  try {
    s.run([&]() -> task<> {
      runq::go([&] { ++ended; });
      co_return;
    });
  } catch (...) {
    ADD_FAILURE();
  }
  s.run([&]() -> task<> {
    runq::go([&]() -> task<> {
      co_await runq::yield();
      ++ended;
    });
    co_return;
  });
  EXPECT_EQ(ended, 2);
}

// Every second time that a strand becomes runnable it is measured. Half of those of the first run were to be measured
// when they were destroyed, and are not to be measured in the second run.
TEST_F(runs, a_strand_of_a_destroyed_task_is_measured_no_more_often_than_others) {
  scheduler s({.procs = 1, .latency_period = 2});
  const auto measured = [&s] {
    std::uint64_t n = 0;
    for (const std::uint64_t count : s.stats().ready_to_run.counts) n += count;
    return n;
  };
  s.run([]() -> task<> {
    for (int i = 0; i != 500; ++i) runq::go([] {});
    co_return;
  });
  const std::uint64_t before = measured();
  int ended = 0;
  s.run([&]() -> task<> {
    for (int i = 0; i != 400; ++i) runq::go([&] { ++ended; });
    while (ended != 400) co_await runq::yield();
  });
  EXPECT_GE(measured() - before, 100U);
  EXPECT_LE(measured() - before, 300U);
}

TEST_F(runs, names_are_not_those_of_earlier_tasks) {
  scheduler s({.procs = 1, .forks = runq::fork_policy::child});
  channel<int> never;
  int begun = 0;
  const auto waits = [&]() -> task<> {
    ++begun;
    (void)co_await never.receive();
  };
  s.run([&]() -> task<> {
    for (int i = 0; i != 100; ++i) runq::go(waits, "of the first run");
    for (int i = 0; i != 100; ++i) runq::go([] {}, "that ends");
    for (int i = 0; i != 10; ++i) co_await runq::yield();
  });
  begun = 0;
  s.run([&]() -> task<> {
    for (int i = 0; i != 100; ++i) runq::go(waits);
    runq::go([&]() -> task<> {
      for (int i = 0; i != 100; ++i) co_await runq::fork(waits());
      co_await runq::join();
    });
    co_await sched_test::yield_until([&] { return begun == 200; });
    const std::string dump = s.dump();
    EXPECT_GE(std::count(dump.begin(), dump.end(), '['), 200) << dump;
    EXPECT_EQ(dump.find("of the first run"), std::string::npos) << dump;
    EXPECT_EQ(dump.find("that ends"), std::string::npos) << dump;
  });
}

// One spare processor is made with the scheduler, so that the end of a run needs no memory.
TEST_F(runs, the_end_of_a_run_makes_no_processor) {
  scheduler s({.procs = 1});
  channel<int> never;
  for (int round = 0; round != 3; ++round) {
    int processors = 0;
    s.run([&]() -> task<> {
      runq::go([&]() -> task<> { (void)co_await never.receive(); });
      co_await runq::yield();
      runq::detail::this_front()->home.for_each_kernel_wait([&](const auto&) { ++processors; });
    });
    EXPECT_EQ(processors, 2) << round;
  }
}

TEST_F(runs, statistics_count_all_runs) {
  scheduler s({.procs = 2});
  std::uint64_t parks = 0;
  for (int round = 0; round != 2; ++round) {
    s.run([&]() -> task<> {
      std::uint64_t now = 0;
      co_await yield_until([&] { return (now = s.stats().parks) > parks; });
      parks = now;
    });
    EXPECT_GE(s.stats().parks, parks);
  }
}

TEST_F(runs, threads_at_once_exist_when_the_scheduler_is_made_and_for_each_run) {
  static constexpr unsigned procs = 4;
  EXPECT_EQ(scheduler({.procs = procs}).stats().machines, 0U);
  scheduler s({.procs = procs, .threads_at_once = true});
  EXPECT_EQ(s.stats().machines, procs);
  for (unsigned round = 1; round != 4; ++round) {
    s.run([&]() -> task<> {
      std::atomic<unsigned> begun{0};
      for (unsigned i = 0; i != procs - 1; ++i) {
        co_await runq::fork([](std::atomic<unsigned>& n) -> task<> {
          // Each holds its processor until all have begun.
          for (++n; n != procs - 1;) std::this_thread::yield();
          co_return;
        }(begun));
      }
      co_await runq::join();
    });
    EXPECT_EQ(s.stats().machines, procs) << "after run " << round;
    EXPECT_EQ(s.stats().machines_started, (round + 1) * procs) << "a run has started threads of its own";
  }
}

TEST_F(runs, a_number_of_processors_out_of_range_is_refused_at_any_time) {
  scheduler s({.procs = 2});
  const std::string refused = "runq: set_procs() takes 1 … options::max_procs, 1024";
  for (const unsigned wrong : {0U, runq::options::max_procs + 1}) {
    EXPECT_EQ(misuse_of([&] { s.set_procs(wrong); }), refused);
    s.run([&] { EXPECT_EQ(misuse_of([&] { runq::set_procs(wrong); }), refused); });
  }
  EXPECT_EQ(s.procs(), 2U);
  EXPECT_EQ(s.set_procs(runq::options::max_procs), 2U);
}

// ---- who may be woken by a stop request -----------------------------------------------------------------------------

/// A scheduler that reports a deadlock as soon as nothing but a stop request of a known source could wake a task, and
/// there is no source.
runq::options with_reports_at_once() {
  return {.procs = 1, .threads_without_handle = runq::plain_threads::wake_no_task};
}

// The newest wait has lost its source. That says nothing of the older one.
TEST_F(runs, L7_a_wait_that_nobody_can_stop_any_more_hides_no_other_that_somebody_can) {
  scheduler s(with_reports_at_once());
  channel<int> never;
  std::stop_source stays;
  std::jthread outside;
  s.run([&]() -> task<> {
    auto goes = std::make_unique<std::stop_source>();
    channel<int> stopped(2);
    const auto wait = [&](std::stop_token token) -> task<> {
      std::optional<int> value;
      if (co_await runq::select(std::move(token), runq::on_receive(never, value)) == runq::stopped) {
        co_await stopped.send(1);
      }
    };
    runq::go(wait(stays.get_token()));
    co_await runq::yield();
    runq::go(wait(goes->get_token()));
    co_await runq::yield();
    goes.reset();
    outside = std::jthread([&] {
      EXPECT_TRUE(wait_until([&] { return s.stats().idle_procs == 1; }));
      stays.request_stop();
    });
    EXPECT_EQ(co_await stopped.receive(), 1);
  });
}

// Waits end in any order. Those that go on are still known.
TEST_F(runs, L7_waits_that_have_ended_leave_the_others_known) {
  constexpr std::size_t n = 4;
  for (std::size_t first = 0; first != n; ++first) {
    for (std::size_t second = 0; second != n; ++second) {
      if (second == first) continue;
      scheduler s(with_reports_at_once());
      std::vector<std::stop_source> sources(n);
      std::jthread outside;
      s.run([&]() -> task<> {
        channel<std::size_t> stopped(n);
        channel<int> never;
        const auto wait = [&](std::size_t i) -> task<> {
          std::optional<int> value;
          (void)co_await runq::select(sources[i].get_token(), runq::on_receive(never, value));
          co_await stopped.send(i);
        };
        for (std::size_t i = 0; i != n; ++i) {
          runq::go(wait(i));
          co_await runq::yield();
        }
        for (const std::size_t ends : {first, second}) {
          sources[ends].request_stop();
          const auto ended = co_await stopped.receive();
          EXPECT_EQ(ended, ends);
          co_await runq::yield();
        }
        std::size_t last = 0;
        while (last == first || last == second) ++last;
        for (std::size_t i = 0; i != n; ++i) {
          if (i != last) sources[i] = std::stop_source(std::nostopstate);
        }
        outside = std::jthread([&, last] {
          EXPECT_TRUE(wait_until([&] { return s.stats().idle_procs == 1; }));
          sources[last].request_stop();
        });
        const auto ended = co_await stopped.receive();
        EXPECT_EQ(ended, last);
      });
    }
  }
}

}  // namespace
