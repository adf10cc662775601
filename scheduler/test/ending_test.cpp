// SPDX-License-Identifier: MIT
// What happens at the end of a run, of the main task, and of a scheduler. Each sentence of docs/scheduler.md, "What
// happens at the end", has a test here.
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <poll.h>
#include <runq/net.hpp>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "repeats.hpp"
#include "support.hpp"

namespace {

/// How many allocations of this process succeed before one fails. Negative: none fails.
std::atomic<long> allocations_left{-1};

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (allocations_left.load(std::memory_order::relaxed) >= 0 &&
      allocations_left.fetch_sub(1, std::memory_order::relaxed) == 0) {
    throw std::bad_alloc();
  }
  void* const memory = std::aligned_alloc(alignment, (std::max<std::size_t>(bytes, 1) + alignment - 1) & -alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// NOLINTBEGIN(misc-new-delete-overloads): the array forms call these. They are not inline, because g++ would warn that
// free() does not match operator new.
[[gnu::noinline]] void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return allocate(bytes, alignof(std::max_align_t));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  try {
    return allocate(bytes, static_cast<std::size_t>(alignment));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
// NOLINTEND(misc-new-delete-overloads)

namespace {

using namespace std::chrono_literals;
using runq::scheduler;
using runq::task;
using sched_test::deadlock_line;
using sched_test::hold_until;
using sched_test::repeats;
using sched_test::wait_for;
using sched_test::yield_until;

class ending : public sched_test::alarmed {
 protected:
  static void SetUpTestSuite() { GTEST_FLAG_SET(death_test_style, sched_test::death_test_style); }
};

/// Calls `f` when it is destroyed.
template <class F>
class at_end {
 public:
  explicit at_end(F f) : f_(std::move(f)) {}
  at_end(const at_end&) = delete;
  at_end& operator=(const at_end&) = delete;
  ~at_end() { f_(); }

 private:
  F f_;
};

/// Reads from `s`, to which no task ever writes.
task<> read_for_ever(runq::net::stream& s, std::atomic<bool>& begun) {
  std::array<std::byte, 1> room{};
  auto reading = s.read(room);
  begun = true;  // from now on main may destroy the stream
  (void)co_await reading;
}

// ---- a run ends although its tasks never wait -----------------------------------------------------------------------

/// One step of a task that loops for ever. No step has to wait.
using step = std::function<task<>()>;

task<> nothing() { co_return; }

// Runs a task that repeats `one` for ever. Main ends as soon as that task has taken its first step.
void ends_beside(const step& one, unsigned procs, runq::fork_policy forks = runq::fork_policy::continuation) {
  std::atomic<bool> begun{false};
  runq::run(
      [&]() -> task<> {
        runq::go([&]() -> task<> {
          for (;;) {
            co_await one();
            if (!begun.exchange(true) && procs == 1) sched_test::end_slice_when_repeated();
          }
        });
        co_await yield_until([&] { return begun.load(); });
      },
      {.procs = procs, .forks = forks});
}

void ends_beside_each_time(const step& one, runq::fork_policy forks = runq::fork_policy::continuation) {
  for (const unsigned procs : {1U, 2U}) {
    for (std::size_t i = 0; i != repeats(50, 5); ++i) ends_beside(one, procs, forks);
  }
}

TEST_F(ending, L2_a_run_ends_beside_a_task_that_calls_others) { ends_beside_each_time(nothing); }

TEST_F(ending, L2_a_run_ends_beside_a_task_that_forks) {
  for (const auto forks : {runq::fork_policy::continuation, runq::fork_policy::child, runq::fork_policy::task}) {
    ends_beside_each_time(
        []() -> task<> {
          co_await runq::fork(nothing());
          co_await runq::join();
        },
        forks);
  }
}

TEST_F(ending, L2_a_run_ends_beside_a_task_whose_channel_has_room) {
  ends_beside_each_time([]() -> task<> {
    runq::channel<int> c(1);
    co_await c.send(1);
    (void)co_await c.receive();
  });
}

TEST_F(ending, L2_a_run_ends_beside_a_task_that_makes_blocking_calls) {
  ends_beside_each_time([]() -> task<> { co_await runq::blocking([] {}); });
}

TEST_F(ending, L2_a_run_ends_beside_a_task_that_makes_long_blocking_calls) {
  ends_beside_each_time([]() -> task<> { co_await runq::blocking([] { std::this_thread::sleep_for(1ms); }); });
}

TEST_F(ending, L2_a_run_ends_beside_a_task_with_blocking_sections) {
  ends_beside_each_time([]() -> task<> {
    {
      const runq::blocking_section here;
      std::this_thread::sleep_for(100us);
    }
    co_await nothing();
  });
}

TEST_F(ending, L2_a_run_ends_beside_a_task_whose_pipe_is_ready) {
  for (const unsigned procs : {1U, 2U}) {
    for (std::size_t i = 0; i != repeats(50, 5); ++i) {
      std::atomic<bool> begun{false};
      runq::run(
          [&]() -> task<> {
            runq::go([&]() -> task<> {
              auto [from, to] = runq::net::pipe();
              std::array<std::byte, 1> one{};
              for (;;) {
                co_await to.write(one);
                (void)co_await from.read(one);
                if (!begun.exchange(true) && procs == 1) sched_test::end_slice_when_repeated();
              }
            });
            co_await yield_until([&] { return begun.load(); });
          },
          {.procs = procs});
    }
  }
}

TEST_F(ending, L2_a_run_ends_beside_a_task_that_yields) {
  ends_beside_each_time([]() -> task<> { co_await runq::yield(); });
}

// The call of main's coroutine yields, because the time slice is over. The other machine runs the coroutine, because a
// task holds this one. By then the coroutine must be known as main: ThreadSanitizer reports it if that comes too late.
TEST_F(ending, L2_main_is_known_as_main_when_it_begins_on_another_machine) {
  for (std::size_t i = 0; i != repeats(50, 10); ++i) {
    std::atomic<bool> begun{false};
    runq::run(
        [&] {
          runq::go([&] { hold_until([&] { return begun.load(); }, "main's coroutine runs"); });
          auto& slice = runq::detail::this_front()->slice;
          slice.end(slice.current());
          return [](std::atomic<bool>& runs) -> task<> {
            runs = true;
            co_return;
          }(begun);
        },
        {.procs = 2});
    EXPECT_TRUE(begun);
  }
}

// ---- main returns ---------------------------------------------------------------------------------------------------

// The stream is a variable of main, so it is closed when main returns. The task that reads from it ends with the run
// and must not see an error, which would be a panic.
TEST_F(ending, L2_a_reader_of_mains_stream_is_no_panic_when_main_returns) {
  for (const unsigned procs : {1U, 2U, 4U}) {
    for (std::size_t i = 0; i != repeats(200, 20); ++i) {
      const int result = runq::run(
          [&]() -> task<int> {
            std::atomic<bool> begun{false};
            auto [ours, theirs] = runq::net::pipe();
            runq::go([&ours = ours, &begun]() -> task<> { co_await read_for_ever(ours, begun); });
            co_await yield_until([&] { return begun.load(); });
            co_return 7;
          },
          {.procs = procs});
      ASSERT_EQ(result, 7);
    }
  }
}

// When main flows off its end, its variables are destroyed before the scheduler can see that main has ended.
TEST_F(ending, L2_a_reader_of_mains_stream_is_no_panic_when_main_flows_off_its_end) {
  for (const unsigned procs : {1U, 2U, 4U}) {
    for (std::size_t i = 0; i != repeats(200, 20); ++i) {
      runq::run(
          []() -> task<> {
            std::atomic<bool> begun{false};
            const at_end takes_long([] { std::this_thread::sleep_for(100us); });
            auto [ours, theirs] = runq::net::pipe();
            runq::go([&ours = ours, &begun]() -> task<> { co_await read_for_ever(ours, begun); });
            co_await yield_until([&] { return begun.load(); });
          },
          {.procs = procs});
    }
  }
}

TEST_F(ending, L2_a_reader_of_mains_stream_is_no_panic_when_main_throws) {
  for (const unsigned procs : {1U, 2U, 4U}) {
    for (std::size_t i = 0; i != repeats(200, 20); ++i) {
      EXPECT_THROW(runq::run(
                       []() -> task<int> {
                         std::atomic<bool> begun{false};
                         const at_end takes_long([] { std::this_thread::sleep_for(100us); });
                         auto [ours, theirs] = runq::net::pipe();
                         runq::go([&ours = ours, &begun]() -> task<> { co_await read_for_ever(ours, begun); });
                         co_await yield_until([&] { return begun.load(); });
                         throw std::runtime_error("main");
                       },
                       {.procs = procs}),
                   std::runtime_error);
    }
  }
}

TEST_F(ending, L2_a_reader_of_mains_stream_is_no_panic_when_main_is_a_plain_function) {
  for (const unsigned procs : {2U, 4U}) {
    for (std::size_t i = 0; i != repeats(200, 20); ++i) {
      runq::run(
          [] {
            std::atomic<bool> begun{false};
            const at_end takes_long([] { std::this_thread::sleep_for(100us); });
            auto [ours, theirs] = runq::net::pipe();
            runq::go([&ours = ours, &begun]() -> task<> { co_await read_for_ever(ours, begun); });
            EXPECT_TRUE(sched_test::wait_for(begun));
          },
          {.procs = procs});
    }
  }
}

// Tasks that accept on main's listener, that queue behind another reader, or that write see no error either.
TEST_F(ending, L2_other_tasks_do_not_learn_that_mains_variables_are_closed) {
  for (std::size_t i = 0; i != repeats(100, 10); ++i) {
    scheduler s({.procs = 2});
    const auto all_wait = [&s] {
      const std::string dump = s.dump();
      int waiting = 0;
      for (std::size_t at = 0; (at = dump.find("[IO wait]", at)) != std::string::npos; ++at) ++waiting;
      return waiting == 6;
    };
    s.run([&]() -> task<> {
      const at_end takes_long([] { std::this_thread::sleep_for(100us); });
      std::atomic<int> begun{0};
      auto from = runq::net::listen_tcp("127.0.0.1", 0);
      auto [ours, theirs] = runq::net::pipe();
      for (int twice = 0; twice != 2; ++twice) {
        runq::go([&from]() -> task<> { (void)co_await from.accept(); });
        runq::go([&ours = ours, &begun]() -> task<> {
          std::array<std::byte, 1> room{};
          auto reading = ours.read(room);
          ++begun;
          (void)co_await reading;
        });
        runq::go([]() -> task<> {
          const std::vector<std::byte> zeros(1 << 20);
          auto [full, unread] = runq::net::pipe();
          co_await unread.write(zeros);  // waits, because the pipe has no room for so much
        });
      }
      // A task that waits no longer touches main's variables. These conditions also make its last access visible to
      // main: from.port() does so for the listener, because it changes the listener's count of users. To read the
      // count, as from.fd() does, is not enough: that may be the count before the second task has come.
      co_await yield_until([&] { return all_wait() && begun == 2 && from.port() != 0; });
    });
  }
}

// A task destroys a stream from which another task reads, and goes on. The reader learns of it as soon as the first
// task waits or blocks.
TEST_F(ending, L2_a_task_that_waits_for_a_destroyed_stream_learns_of_it_when_the_owner_waits) {
  for (const bool blocks : {false, true}) {
    runq::run(
        [blocks]() -> task<> {
          std::atomic<bool> begun{false};
          std::atomic<bool> told{false};
          std::array<std::byte, 1> end{};
          auto [ours, theirs] = runq::net::socket_pair();
          auto given_up = std::make_unique<runq::net::stream>(std::move(ours));
          runq::go([&]() -> task<> {
            try {
              co_await read_for_ever(*given_up, begun);
            } catch (const std::system_error& e) {
              told = e.code() == std::errc::operation_canceled;
            }
          });
          co_await yield_until([&] { return begun.load(); });
          given_up.reset();
          // The other side sees the end before the reader is told; but a system call in which the reader is has to
          // return.
          pollfd readable{theirs.fd(), POLLIN, 0};
          EXPECT_EQ(::poll(&readable, 1, -1), 1);
          EXPECT_EQ(::recv(theirs.fd(), end.data(), end.size(), 0), 0);
          if (blocks) {
            const runq::blocking_section here;
            EXPECT_TRUE(sched_test::wait_for(told));
          } else {
            co_await yield_until([&] { return told.load(); });
          }
        },
        {.procs = 2});
  }
}

// Here the task that destroys the stream ends at once instead of waiting.
TEST_F(ending, L2_a_task_that_waits_for_a_destroyed_stream_learns_of_it_when_the_owner_has_ended) {
  for (const unsigned procs : {1U, 2U}) {
    runq::run(
        []() -> task<> {
          std::atomic<bool> begun{false};
          runq::wait_group told;
          told.add(1);
          auto [ours, theirs] = runq::net::socket_pair();
          auto given_up = std::make_unique<runq::net::stream>(std::move(ours));
          runq::go([&]() -> task<> {
            int error = 0;
            try {
              co_await read_for_ever(*given_up, begun);
            } catch (const std::system_error& e) {
              error = e.code().value();
            }
            EXPECT_EQ(error, ECANCELED);
            told.done();
          });
          co_await yield_until([&] { return begun.load(); });
          runq::go([&] { given_up.reset(); });
          co_await told.wait();
        },
        {.procs = procs});
  }
}

// ---- spare processors -----------------------------------------------------------------------------------------------

// Calls `inside` in a task whose blocking section ends after its run. Its own processor has been taken meanwhile, so
// the task runs on a spare one.
template <class F>
void on_a_spare_processor(scheduler& s, F inside) {
  std::atomic<bool> in_call{false};
  const auto stops = [&] { return s.procs() == 0; };
  s.run([&]() -> task<> {
    runq::go([&in_call, &inside, stops]() -> task<> {
      {
        const runq::blocking_section here;
        in_call = true;
        EXPECT_TRUE(sched_test::wait_until(stops));
      }
      inside();
      co_await runq::yield();
      ADD_FAILURE() << "goes on after the end";
    });
    co_await yield_until([&] { return in_call && s.stats().handed_off != 0; });
  });
}

TEST_F(ending, L2_a_task_started_on_a_spare_processor_is_destroyed_with_the_run) {
  for (int i = 0; i != 4; ++i) {
    scheduler s({.procs = 1});
    std::atomic<int> begun{0};
    on_a_spare_processor(s, [&] { runq::go([&] { ++begun; }); });
    s.wait();
    const auto counts = s.stats();
    EXPECT_EQ(counts.finished, 1U) << "main";
    s.run([] {});
    s.wait();
    EXPECT_EQ(begun, 0);
  }
}

TEST_F(ending, L2_a_timer_started_on_a_spare_processor_outlives_the_run) {
  scheduler s({.procs = 1});
  std::optional<runq::timer> t;
  on_a_spare_processor(s, [&] { t.emplace(1ms); });
  s.run([&]() -> task<> { EXPECT_TRUE(co_await t->channel().receive()); });
  on_a_spare_processor(s, [&] { t.emplace(1h); });
  EXPECT_TRUE(t->stop());
  on_a_spare_processor(s, [&] { t->start(1h); });
  t.reset();
}

// The task goes on, but to its next co_await only, even if that is ready.
TEST_F(ending, L2_a_task_on_a_spare_processor_has_no_time_slice) {
  scheduler s({.procs = 1});
  for (int i = 0; i != 3; ++i) on_a_spare_processor(s, [] { EXPECT_TRUE(runq::detail::time_slice_over()); });
}

// ---- timers ---------------------------------------------------------------------------------------------------------

TEST_F(ending, L2_a_timer_that_outlives_the_run_fires_in_the_next) {
  scheduler s({.procs = 2});
  std::optional<runq::timer> t;
  s.run([&] { t.emplace(1ms); });
  s.run([&]() -> task<> { EXPECT_TRUE(co_await t->channel().receive()); });
}

TEST_F(ending, L2_tasks_that_sleep_are_forgotten_by_the_clock) {
  scheduler s({.procs = 2});
  for (int i = 0; i != 3; ++i) {
    std::atomic<int> asleep{0};
    s.run([&]() -> task<> {
      for (int k = 0; k != 10; ++k) {
        runq::go([&, k]() -> task<> {
          ++asleep;
          co_await runq::sleep_for(k % 2 == 0 ? std::chrono::nanoseconds(1h) : std::chrono::nanoseconds(1ms));
          ++asleep;
        });
      }
      co_await yield_until([&] { return asleep >= 10; });
    });
    EXPECT_EQ(s.stats().timers, 0U);
  }
  s.wait();
}

// ---- deadlocks ------------------------------------------------------------------------------------------------------

TEST_F(ending, L7_a_deadlock_after_a_timer_that_wakes_nobody_is_reported) {
  for (const unsigned procs : {1U, 2U, 4U}) {
    EXPECT_EXIT(runq::run(
                    []() -> task<> {
                      const runq::timer kept = runq::after(20ms);
                      runq::channel<int> never;
                      (void)co_await never.receive();
                    },
                    {.procs = procs}),
                testing::ExitedWithCode(2), deadlock_line);
  }
}

TEST_F(ending, L7_a_deadlock_after_a_timer_that_was_stopped_is_reported) {
  EXPECT_EXIT(runq::run(
                  []() -> task<> {
                    runq::channel<int> never;
                    runq::go([]() -> task<> {
                      runq::timer kept(1h);
                      co_await runq::yield();
                      (void)kept.stop();
                    });
                    (void)co_await never.receive();
                  },
                  {.procs = 2}),
              testing::ExitedWithCode(2), deadlock_line);
}

TEST_F(ending, L7_a_stop_source_that_was_destroyed_hides_no_deadlock) {
  for (const unsigned procs : {1U, 2U}) {
    EXPECT_EXIT(runq::run(
                    []() -> task<> {
                      runq::channel<int> never;
                      runq::channel<int> begun;
                      runq::go([&]() -> task<> {
                        std::stop_source source;
                        runq::go([&never, &begun, token = source.get_token()]() -> task<> {
                          std::optional<int> n;
                          co_await begun.send(1);
                          (void)co_await runq::select(token, runq::on_receive(never, n));
                        });
                        (void)co_await begun.receive();
                        for (int i = 0; i != 100; ++i) co_await runq::yield();
                        // Here `source` is destroyed without a stop request.
                      });
                      (void)co_await never.receive();
                    },
                    {.procs = procs}),
                testing::ExitedWithCode(2), deadlock_line);
  }
}

// The first processor's machine runs the child, the other one takes the parent, which ends as another strand than the
// one that it was started as. If one of them were not given back, it would count as a task that may still
// wake others.
TEST_F(ending, L7_a_task_that_ends_on_another_processor_than_its_own_hides_no_deadlock) {
  EXPECT_EXIT(runq::run(
                  []() -> task<> {
                    for (int i = 0; i != 20; ++i) {
                      std::atomic<bool> taken{false};
                      std::atomic<bool> ended{false};
                      const auto child = [](std::atomic<bool>& goes_on) -> task<> {
                        hold_until([&] { return goes_on.load(); }, "the other machine takes the parent");
                        co_return;
                      };
                      const auto parent = [&]() -> task<> {
                        const at_end ends([&] { ended = true; });
                        co_await runq::fork(child(taken));
                        taken = true;
                        std::this_thread::sleep_for(1ms);  // most often the child ends first
                        co_await runq::join();
                      };
                      runq::go(parent);
                      co_await yield_until([&] { return ended.load(); });
                    }
                    runq::channel<int> never;
                    (void)co_await never.receive();
                  },
                  {.procs = 3}),
              testing::ExitedWithCode(2), deadlock_line);
}

// ---- destructors ----------------------------------------------------------------------------------------------------

// A destructor that runs at the end may do what the plain code of a task may do. A task that it starts never runs.
TEST_F(ending, L2_a_destructor_that_starts_a_task_starts_none) {
  for (const unsigned procs : {1U, 2U}) {
    scheduler s({.procs = procs});
    std::atomic<int> ran{0};
    std::atomic<int> alive{0};
    for (int i = 0; i != 3; ++i) {
      s.run([&]() -> task<> {
        runq::channel<int> begun;
        for (int k = 0; k != 3; ++k) {
          runq::go([&]() -> task<> {
            const at_end ends([&] {
              ++alive;
              runq::go([&ran, here = std::shared_ptr<std::atomic<int>>(&alive, [](auto* n) { --*n; })]() -> task<> {
                ++ran;
                co_return;
              });
            });
            co_await begun.send(1);
            (void)co_await runq::select();
          });
        }
        for (int k = 0; k != 3; ++k) (void)co_await begun.receive();
      });
      EXPECT_EQ(alive, 0) << "what was given to go() is destroyed";
    }
    s.wait();
    EXPECT_EQ(ran, 0);
    EXPECT_EQ(s.stats().spawned, s.stats().finished + 9) << "nine waiting tasks were destroyed, and no more started";
  }
}

// The run ends while two parents wait in a deque, each behind its fork of a child with a result: no machine takes them
// any more, and so none of them has the handle of its child yet.
TEST_F(ending, L2_children_are_destroyed_although_their_parents_have_no_handles_yet) {
  for (const runq::fork_policy forks : {runq::fork_policy::continuation, runq::fork_policy::child}) {
    std::atomic<int> alive{0};
    const auto count = [&] {
      ++alive;
      return at_end([&] { --alive; });
    };
    std::atomic<bool> innermost_runs{false};
    std::atomic<bool> main_has_ended{false};
    const auto innermost = [&]() -> task<int> {
      const auto here = count();
      innermost_runs = true;
      hold_until([&] { return main_has_ended.load(); }, "main ends");
      co_await runq::yield();
      co_return 1;
    };
    const auto middle = [&]() -> task<int> {
      const auto here = count();
      auto child = co_await runq::fork(innermost());
      co_await runq::join();
      co_return child.get();
    };
    const auto outer = [&]() -> task<> {
      const auto here = count();
      auto child = co_await runq::fork(middle());
      co_await runq::join();
    };
    runq::run(
        [&]() -> task<> {
          const at_end ends([&] { main_has_ended = true; });
          runq::go(outer);
          hold_until([&] { return innermost_runs.load(); }, "the other machine runs the innermost");
          co_return;
        },
        {.procs = 2, .forks = forks});
    EXPECT_EQ(alive, 0);
  }
}

// The function that the parent has called is destroyed before the child, whose handle it has.
TEST_F(ending, L2_a_handle_may_be_destroyed_before_its_child_when_the_run_ends) {
  for (const runq::fork_policy forks : {runq::fork_policy::continuation, runq::fork_policy::child}) {
    int destroyed = 0;
    runq::run(
        [&]() -> task<> {
          runq::channel<int> never;
          const auto waits = [&]() -> task<int> {
            const at_end ends([&] { ++destroyed; });
            (void)co_await never.receive();
            co_return 1;
          };
          const auto keeps = [&](runq::forked<int> child) -> task<> {
            const at_end ends([&] { ++destroyed; });
            (void)co_await never.receive();
            (void)child;
          };
          runq::go([&]() -> task<> {
            auto child = co_await runq::fork(waits());
            auto call = keeps(std::move(child));
            co_await call;
          });
          for (int i = 0; i != 10; ++i) co_await runq::yield();
        },
        {.procs = 1, .forks = forks});
    EXPECT_EQ(destroyed, 2);
  }
}

// The thread starts its task while no machine runs any more. So the end of the run must see to it that one looks for
// the task.
TEST_F(ending, L2_a_task_that_a_thread_starts_while_the_others_are_destroyed_runs_after_the_run) {
  for (const unsigned procs : {1U, 2U}) {
    scheduler s({.procs = procs});
    const auto here = s.attach();
    std::atomic<bool> ran{false};
    s.run([&]() -> task<> {
      runq::channel<int> begun;
      runq::go([&]() -> task<> {
        const at_end ends([&] { std::thread([&] { here.go([&] { ran = true; }); }).join(); });
        co_await begun.send(1);
        (void)co_await runq::select();
      });
      (void)co_await begun.receive();
      hold_until([&] { return s.stats().idle_procs == procs - 1; }, "the other processor is idle");
    });
    EXPECT_TRUE(wait_for(ran)) << "the task waits for the next run";
  }
}

TEST_F(ending, L2_a_destructor_may_use_what_plain_code_may_use) {
  scheduler s({.procs = 2});
  std::string text;
  runq::channel<int> c(1);
  s.run([&]() -> task<> {
    runq::channel<int> begun;
    runq::go(
        [&]() -> task<> {
          const at_end ends([&] {
            const runq::blocking_section here;
            std::this_thread::sleep_for(1ms);
          });
          const at_end before([&] {
            text = std::string(runq::this_task::name()) + (runq::this_task::running() ? " runs" : " does not run");
            (void)c.try_send(7);
            runq::timer t(1h);
            (void)t.stop();
          });
          co_await begun.send(1);
          (void)co_await runq::select();
        },
        "named");
    (void)co_await begun.receive();
  });
  EXPECT_EQ(text, "named runs");
  EXPECT_EQ(c.size(), 1U);
  EXPECT_FALSE(runq::this_task::running());
}

// Each destructor wakes another waiting task, which has been destroyed already or will be. None of them may go on.
TEST_F(ending, L2_a_destructor_that_wakes_others_wakes_them_in_vain) {
  for (const unsigned procs : {1U, 2U}) {
    scheduler s({.procs = procs});
    for (std::size_t i = 0; i != repeats(100, 5); ++i) {
      std::atomic<int> went_on{0};
      s.run([&]() -> task<> {
        auto all = std::make_shared<runq::channel<int>>();
        std::atomic<int> begun{0};
        for (int k = 0; k != 600; ++k) {
          runq::go([&, all]() -> task<> {
            const at_end ends([all] { (void)all->try_send(1); });
            ++begun;
            (void)co_await all->receive();
            ++went_on;
          });
        }
        co_await yield_until([&] { return begun == 600; });
      });
      EXPECT_EQ(went_on, 0);
    }
    s.wait();
  }
}

// ---- the end of a scheduler -----------------------------------------------------------------------------------------

TEST_F(ending, L2_a_scheduler_that_is_destroyed_by_its_own_task_says_so) {
  for (const bool in_call : {false, true}) {
    EXPECT_EXIT(
        {
          auto s = std::make_unique<scheduler>(runq::options{.procs = 1});
          s->run([&] {
            if (!in_call) {
              s.reset();
            } else {
              const runq::blocking_section here;
              s.reset();
            }
          });
        },
        testing::ExitedWithCode(2), "^panic: runq: a scheduler was destroyed by one of its own tasks");
  }
}

TEST_F(ending, L2_a_static_scheduler_says_so_when_a_task_calls_exit) {
  EXPECT_EXIT(
      {
        static scheduler s({.procs = 1});
        s.run([] { std::exit(0); });
      },
      testing::ExitedWithCode(2), "^panic: runq: a scheduler was destroyed by one of its own tasks");
}

TEST_F(ending, L2_a_scheduler_that_is_destroyed_by_a_task_of_another_ends) {
  std::atomic<int> begun{0};
  std::atomic<int> ended{0};
  runq::run([&]() -> task<> {
    auto other = std::make_unique<scheduler>(runq::options{.procs = 1});
    other->attach().go([&]() -> task<> {
      const at_end ends([&] {
        ++ended;
        runq::go([] {});
      });
      ++begun;
      (void)co_await runq::select();
    });
    co_await yield_until([&] { return begun == 1; });
    other.reset();
    EXPECT_TRUE(runq::this_task::running());
    EXPECT_EQ(runq::this_task::id(), 1U);
    co_await runq::yield();
  });
  EXPECT_EQ(ended, 1);
}

scheduler& of_the_program() {
  static scheduler s({.procs = 2});
  return s;
}

bool is_forked_child = false;

// LeakSanitizer looks for leaks when a process exits. In a child process that fork() made it may wait for ever for a
// lock that another thread of the parent held, and it reports live objects: the child process does not have the stacks
// of its parent's other threads, which may hold the only reference to a task. The child process therefore ends here,
// after exit() has destroyed the static objects. exit() calls this after the destructor of each static object that is
// constructed later, and before LeakSanitizer, which registers itself earlier.
[[maybe_unused]] const int ends_before_leaks_are_counted = on_exit(
    [](int status, void*) {
      if (is_forked_child) std::_Exit(status);
    },
    nullptr);

int status_of_child(void (*in_child)()) {
  const pid_t child = fork();
  if (child == 0) {
    is_forked_child = true;
    in_child();
    std::exit(0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

// exit() in the child process destroys the static scheduler, whose threads exist only in the parent process.
TEST_F(ending, L2_a_forked_child_may_exit_with_a_static_scheduler) {
#if RUNQ_TEST_TSAN
  GTEST_SKIP() << "ThreadSanitizer ends a process with threads that forks";
#endif
  std::atomic<bool> begun{false};
  scheduler& s = of_the_program();
  s.attach().go([&]() -> task<> {
    begun = true;
    (void)co_await runq::select();
  });
  ASSERT_TRUE(sched_test::wait_for(begun));
  for (int i = 0; i != 3; ++i) EXPECT_EQ(status_of_child([] {}), 0);
  EXPECT_EQ(status_of_child([] {
              const std::string refused =
                  "runq: a process that fork() made cannot use its parent's scheduler; make a new one";
              if (sched_test::misuse_of([] { of_the_program().run([] {}); }) != refused) std::_Exit(1);
              if (sched_test::misuse_of([] { of_the_program().wait(); }) != refused) std::_Exit(2);
              if (runq::run([]() -> task<int> { co_return 7; }) != 7) std::_Exit(3);
            }),
            0);
  EXPECT_EQ(s.run([]() -> task<int> { co_return 7; }), 7);
  // A task may call fork(), too: its child process also ends by exit() with status 0.
  s.run([] { EXPECT_EQ(status_of_child([] {}), 0); });
}

// ---- main returns, main throws --------------------------------------------------------------------------------------

// Destructors of main's variables run after main's end. A task that they wake does not go on, and a task that they
// start does not begin.
TEST_F(ending, L2_main_has_ended_at_its_return_before_its_variables_are_destroyed) {
  for (const unsigned procs : {1U, 2U, 4U}) {
    for (std::size_t i = 0; i != repeats(500, 20); ++i) {
      std::atomic<int> went_on{0};
      runq::channel<int> c;
      runq::mutex m;
      const int result = runq::run(
          [&]() -> task<int> {
            std::atomic<int> begun{0};
            co_await m.lock();
            const at_end wakes([&] {
              c.close();
              m.unlock();
              runq::go([&] { ++went_on; });
            });
            runq::go([&]() -> task<> {
              ++begun;
              (void)co_await c.receive();
              ++went_on;
            });
            runq::go([&]() -> task<> {
              ++begun;
              co_await m.lock();
              ++went_on;
            });
            // A task that has asked whether its time slice is over, and then finds the channel closed, would go on.
            co_await yield_until([&] {
              if (begun != 2) return false;
              const std::string all = runq::this_scheduler().dump();
              return all.find(to_string(runq::wait_reason::chan_receive)) != std::string::npos &&
                     all.find(to_string(runq::wait_reason::mutex_lock)) != std::string::npos;
            });
            co_return 7;
          },
          {.procs = procs});
      ASSERT_EQ(result, 7);
      ASSERT_EQ(went_on, 0);
    }
  }
}

// The task runs on another processor when main returns. It stops at its next await, although what it awaits is ready.
TEST_F(ending, L2_a_task_that_runs_when_main_returns_stops_at_its_next_await) {
  runq::channel<int> has_room(1000);
  runq::mutex free;
  const std::function<task<>()> awaits[] = {
      nothing,
      [&]() -> task<> { co_await has_room.send(1); },
      [&]() -> task<> { const auto locked = co_await free.scoped_lock(); },
      []() -> task<> { co_await runq::blocking([] {}); },
      []() -> task<> { co_await runq::join(); },
  };
  for (const auto& await : awaits) {
    for (std::size_t i = 0; i != repeats(200, 10); ++i) {
      std::atomic<bool> begun{false};
      std::atomic<bool> returned{false};
      std::atomic<bool> went_on{false};
      runq::run(
          [&]() -> task<> {
            const at_end ends([&] { returned = true; });
            runq::go([&]() -> task<> {
              begun = true;
              EXPECT_TRUE(sched_test::comes_true([&] { return returned.load(); }));
              co_await await();
              went_on = true;
            });
            co_await yield_until([&] { return begun.load(); });
            co_return;
          },
          {.procs = 2});
      ASSERT_FALSE(went_on);
    }
  }
}

TEST_F(ending, L2_a_plain_main_has_ended_when_its_variables_are_gone) {
  std::atomic<bool> ran{false};
  runq::run(
      [&] {
        const at_end waits([&] { EXPECT_TRUE(sched_test::wait_for(ran)) << "a task that may still begin"; });
        runq::go([&] { ran = true; });
      },
      {.procs = 2});
}

// The task runs on another processor when main returns, and throws without awaiting anything before.
TEST_F(ending, X12_an_exception_that_leaves_a_task_after_main_has_ended_is_nobodys) {
  for (std::size_t i = 0; i != repeats(200, 10); ++i) {
    std::atomic<bool> begun{false};
    std::atomic<bool> returned{false};
    const int result = runq::run(
        [&]() -> task<int> {
          const at_end ends([&] { returned = true; });
          for (const bool returns_something : {false, true}) {
            runq::go([&, returns_something]() -> task<int> {
              if (returns_something) co_return 0;
              begun = true;
              EXPECT_TRUE(sched_test::wait_for(returned));
              throw std::runtime_error("nobody hears of it");
            });
          }
          co_await yield_until([&] { return begun.load(); });
          co_return 7;
        },
        {.procs = 2});
    ASSERT_EQ(result, 7);
  }
}

TEST_F(ending, L2_main_may_block_while_its_variables_are_destroyed) {
  for (const unsigned procs : {1U, 2U}) {
    std::atomic<int> begun{0};
    const int result = runq::run(
        [&]() -> task<int> {
          const at_end blocks([] {
            const runq::blocking_section here;
            std::this_thread::sleep_for(30ms);
          });
          for (int i = 0; i != 4; ++i) {
            runq::go([&]() -> task<> {
              ++begun;
              for (;;) co_await runq::yield();
            });
          }
          co_await yield_until([&] { return begun == 4; });
          co_return 7;
        },
        {.procs = procs});
    EXPECT_EQ(result, 7);
  }
}

// The blocking call ends after main, so no task takes its result. The result must be destroyed.
TEST_F(ending, L2_the_result_of_a_call_that_ends_after_main_is_destroyed) {
  for (const unsigned procs : {1U, 2U}) {
    const auto result = std::make_shared<int>(7);
    std::atomic<bool> in_call{false};
    std::atomic<bool> went_on{false};
    scheduler s({.procs = procs});
    s.run([&]() -> task<> {
      runq::go([&]() -> task<> {
        auto call = [&] {
          in_call = true;
          EXPECT_TRUE(sched_test::wait_until([&] { return s.procs() == 0; })) << "the run ends";
          s.set_procs(procs);  // by a lock: so what comes next knows that the run ends
          return result;
        };
        const auto got = co_await runq::blocking(std::ref(call));
        went_on = true;
      });
      co_await yield_until([&] { return in_call.load(); });
    });
    EXPECT_FALSE(went_on);
    EXPECT_EQ(result.use_count(), 1);
  }
}

TEST_F(ending, L2_main_may_return_within_a_blocking_section) {
  const int result = runq::run([]() -> task<int> {
    const runq::blocking_section here;
    std::this_thread::sleep_for(1ms);
    co_return 7;
  });
  EXPECT_EQ(result, 7);
}

TEST_F(ending, L2_an_exception_that_leaves_main_ends_the_others_and_is_thrown_by_run) {
  for (const unsigned procs : {1U, 2U}) {
    scheduler s({.procs = procs});
    for (int i = 0; i != 3; ++i) {
      std::atomic<int> alive{0};
      std::atomic<int> went_on{0};
      EXPECT_THROW(s.run([&]() -> task<int> {
        runq::channel<int> begun;
        runq::go([&]() -> task<> {
          ++alive;
          const at_end ends([&] { --alive; });
          co_await begun.send(1);
          (void)co_await runq::select();
          ++went_on;
        });
        (void)co_await begun.receive();
        throw std::runtime_error("main");
      }),
                   std::runtime_error);
      EXPECT_EQ(alive, 0);
      EXPECT_EQ(went_on, 0);
    }
    EXPECT_EQ(s.run([] { return 7; }), 7);
  }
}

// While an exception destroys main's variables, main has not ended yet. So a panic of another task ends the process.
TEST_F(ending, X12_a_panic_while_an_exception_destroys_mains_variables_counts) {
  EXPECT_EXIT(runq::run(
                  []() -> task<> {
                    std::atomic<bool> thrown{false};
                    std::atomic<bool> begun{false};
                    runq::go([&]() -> task<> {
                      begun = true;
                      EXPECT_TRUE(sched_test::wait_for(thrown));
                      throw std::runtime_error("the task's");
                      co_return;
                    });
                    co_await yield_until([&] { return begun.load(); });
                    const at_end waits([&] {
                      thrown = true;
                      std::this_thread::sleep_for(1min);
                    });
                    throw std::runtime_error("main's");
                  },
                  {.procs = 2}),
              testing::ExitedWithCode(2), "^panic: the task's\n");
}

// ---- stop, signals --------------------------------------------------------------------------------------------------

TEST_F(ending, L2_a_stop_request_ends_waits_and_no_run) {
  std::stop_source source;
  std::atomic<int> stopped{0};
  const int result = runq::run([&]() -> task<int> {
    runq::channel<int> never;
    runq::wait_group group;
    group.add(3);
    for (int i = 0; i != 3; ++i) {
      runq::go([&]() -> task<> {
        std::optional<int> n;
        if (co_await runq::select(source.get_token(), runq::on_receive(never, n)) == runq::stopped) ++stopped;
        group.done();
      });
    }
    source.request_stop();
    co_await group.wait();
    co_return 7;
  });
  EXPECT_EQ(result, 7);
  EXPECT_EQ(stopped, 3);
}

TEST_F(ending, L2_a_signal_without_a_handler_ends_the_process_at_once) {
  EXPECT_EXIT(runq::run([]() -> task<> {
                const at_end ends([] { std::fputs("a destructor ran\n", stderr); });
                co_await runq::blocking([] { return kill(getpid(), SIGTERM); });
                (void)co_await runq::select();
              }),
              testing::KilledBySignal(SIGTERM), "^$");
}

int to_wake = -1;

// The usual way to end a run from a signal handler: the handler writes a byte into a pipe that a task reads.
TEST_F(ending, L2_a_signal_handler_ends_a_run_by_a_pipe) {
  for (const unsigned procs : {1U, 2U}) {
    const int result = runq::run(
        [&]() -> task<int> {
          auto [from, to] = runq::net::pipe();
          to_wake = to.fd();
          struct sigaction action {};
          action.sa_handler = [](int) {
            const char one = 1;
            (void)!write(to_wake, &one, 1);
          };
          struct sigaction before {};
          sigaction(SIGUSR1, &action, &before);
          // To the calling thread: clang++'s ThreadSanitizer loses a signal that arrives at a thread whose start is not
          // complete.
          runq::go([]() -> task<> { co_await runq::blocking([] { return std::raise(SIGUSR1); }); });
          std::array<std::byte, 1> one{};
          (void)co_await from.read(one);
          sigaction(SIGUSR1, &before, nullptr);
          co_return 7;
        },
        {.procs = procs});
    EXPECT_EQ(result, 7);
  }
}

// ---- the end at every step ------------------------------------------------------------------------------------------

/// An object that counts how many of its kind are alive.
class counted {
 public:
  explicit counted(std::atomic<int>& alive) : alive_(&alive) { ++*alive_; }
  counted(const counted& other) : alive_(other.alive_) { ++*alive_; }
  counted& operator=(const counted&) = delete;
  ~counted() { --*alive_; }

 private:
  std::atomic<int>* alive_;
};

/// What the tasks of start_all_kinds() share. It outlives the run.
struct shared_things {
  runq::channel<int> c{1};
  runq::channel<int> never;
  runq::mutex m;
  runq::wait_group never_done;
  std::stop_source source;
  std::atomic<int> alive{0};

  shared_things() { never_done.add(1); }
};

task<int> child(shared_things& all, int depth) {
  const counted here(all.alive);
  if (depth == 0) {
    co_await runq::yield();
    co_return 1;
  }
  auto left = co_await runq::fork(child(all, depth - 1));
  const int right = co_await child(all, depth - 1);
  co_await runq::join();
  co_return left.get() + right;
}

// Starts tasks that wait in every way that the library offers. Some wait for ever, some again and again.
task<> start_all_kinds(shared_things& all) {
  const auto start = [&all](auto body) {
    runq::go([body, here = counted(all.alive), &all]() -> task<> { co_await body(all); });
  };
  start([](shared_things& a) -> task<> {
    for (int i = 0;; ++i) {
      co_await a.c.send(i);
      co_await runq::yield();
    }
  });
  start([](shared_things& a) -> task<> {
    for (;;) {
      (void)co_await a.c.receive();
      co_await runq::yield();
    }
  });
  start([](shared_things& a) -> task<> {
    for (;;) {
      std::optional<int> n;
      (void)co_await runq::select(a.source.get_token(), runq::on_receive(a.c, n), runq::on_send(a.c, 1));
      co_await runq::yield();
    }
  });
  start([](shared_things& a) -> task<> {
    std::optional<int> n;
    (void)co_await runq::select(a.source.get_token(), runq::on_receive(a.never, n));
  });
  for (int i = 0; i != 2; ++i) {
    start([](shared_things& a) -> task<> {
      for (;;) {
        const auto locked = co_await a.m.scoped_lock();
        co_await runq::yield();
      }
    });
  }
  start([](shared_things& a) -> task<> { co_await a.never_done.wait(); });
  start([](shared_things&) -> task<> {
    for (;;) co_await runq::sleep_for(100us);
  });
  start([](shared_things&) -> task<> {
    runq::ticker every(100us);
    for (;;) (void)co_await every.channel().receive();
  });
  start([](shared_things& a) -> task<> {
    for (;;) {
      (void)co_await child(a, 3);
      co_await runq::yield();
    }
  });
  start([](shared_things&) -> task<> {
    for (;;) {
      co_await runq::blocking([] { std::this_thread::sleep_for(10us); });
      co_await runq::yield();
    }
  });
  start([](shared_things&) -> task<> {
    for (;;) {
      {
        const runq::blocking_section here;
        std::this_thread::sleep_for(10us);
      }
      co_await runq::yield();
    }
  });
  start([](shared_things& a) -> task<> {
    auto [from, to] = runq::net::pipe();
    std::atomic<bool> begun{false};
    runq::go([&from = from, &begun, here = counted(a.alive)]() -> task<> { co_await read_for_ever(from, begun); });
    for (;;) co_await runq::yield();
  });
  co_return;
}

TEST_F(ending, L2_a_run_may_end_at_every_step_of_tasks_that_wait_in_every_way) {
  static std::size_t first = 0;  // a repetition in the same process continues with the next numbers of steps
  const std::size_t last = first + repeats(600, 30);
  for (const auto forks : {runq::fork_policy::continuation, runq::fork_policy::child, runq::fork_policy::task}) {
    for (const unsigned procs : {1U, 2U}) {
      scheduler s({.procs = procs, .forks = forks});
      for (std::size_t steps = first; steps != last; ++steps) {
        shared_things all;
        const bool throws = steps % 3 == 2;
        const auto main = [&]() -> task<int> {
          co_await start_all_kinds(all);
          for (std::size_t i = 0; i != steps % 60; ++i) co_await runq::yield();
          if (throws) throw std::runtime_error("main");
          co_return 7;
        };
        if (throws) {
          EXPECT_THROW(s.run(main), std::runtime_error);
        } else {
          EXPECT_EQ(s.run(main), 7);
        }
        ASSERT_EQ(all.alive, 0) << "frames and callables are destroyed";
        ASSERT_EQ(s.stats().timers, 0U);
      }
      s.wait();
    }
  }
  first = last;
}

TEST_F(ending, L2_a_scheduler_may_be_destroyed_at_every_step_of_tasks_that_wait_in_every_way) {
  static std::size_t first = 0;
  const std::size_t last = first + repeats(200, 10);
  for (std::size_t steps = first; steps != last; ++steps) {
    shared_things all;
    {
      scheduler s({.procs = 1 + static_cast<unsigned>(steps % 2)});
      s.attach().go([&all]() -> task<> { co_await start_all_kinds(all); });
      while (s.stats().finished < 1) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::microseconds(steps % 50));
    }
    ASSERT_EQ(all.alive, 0);
  }
  first = last;
}

// ---- memory that runs out -------------------------------------------------------------------------------------------

// Runs `f` in the child process of a death test, where the allocation after the first n fails. Then it says on stderr
// whether any allocation failed.
template <class F>
void with_failing_allocation(long n, F f) {
  allocations_left = n;
  f();
  const bool none_failed = allocations_left.exchange(-1) >= 0;
  std::fputs(none_failed ? "none failed\n" : "done\n", stderr);
  std::exit(0);
}

bool ended_well_or_with_a_message(int status) {
  return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 2);
}

/// The numbers of allocations, from 0 and below `end`, before which a test makes one fail. If edges.py repeats the
/// test, each run takes four of them, which are evenly spread, and the next run the numbers that follow these: each
/// number is a process of its own.
std::vector<long> numbers_of_allocations(long end, long apart) {
  static std::map<long, long> begun;  // by `end`: runs before this one
  const bool once = sched_test::repeated_as_a_whole();
  std::vector<long> chosen;
  for (long n = once ? begun[end]++ % (end / 4) : 0; n < end; n += once ? end / 4 : apart) chosen.push_back(n);
  return chosen;
}

// run() throws std::bad_alloc, and the scheduler can be used afterwards.
TEST_F(ending, L2_a_run_that_cannot_begin_for_want_of_memory_leaves_the_scheduler_usable) {
  if (!sched_test::own_operator_new)
    GTEST_SKIP() << "clang++'s ThreadSanitizer keeps its operator new: no allocation would fail";
  for (const long n : numbers_of_allocations(12, 1)) {
    renew_alarm();
    EXPECT_EXIT(with_failing_allocation(-1,
                                        [n] {
                                          scheduler s({.procs = 1});
                                          allocations_left = n;
                                          try {
                                            if (s.run([]() -> task<int> { co_return 7; }) != 7) std::_Exit(3);
                                          } catch (const std::bad_alloc&) {
                                            std::fputs("thrown, ", stderr);
                                          }
                                          allocations_left = -1;
                                          if (s.run([]() -> task<int> { co_return 8; }) != 8) std::_Exit(4);
                                          s.wait();
                                        }),
                ended_well_or_with_a_message, "^((thrown, )?done\n|fatal error: runq: out of memory .*\n)$");
  }
}

TEST_F(ending, L2_every_allocation_may_fail) {
  if (!sched_test::own_operator_new)
    GTEST_SKIP() << "clang++'s ThreadSanitizer keeps its operator new: no allocation would fail";
  // The program makes about 39 allocations; the number depends on how the tasks are interleaved. A frame that gets no
  // memory between a fork and its join is an exception that leaves the task there, which ends the process.
  for (const long n : numbers_of_allocations(48, 3)) {
    renew_alarm();
    EXPECT_EXIT(with_failing_allocation(n,
                                        [] {
                                          try {
                                            shared_things all;
                                            runq::run(
                                                [&]() -> task<> {
                                                  co_await start_all_kinds(all);
                                                  for (int i = 0; i != 20; ++i) co_await runq::yield();
                                                },
                                                {.procs = 2});
                                          } catch (const std::bad_alloc&) {
                                          } catch (const std::system_error&) {
                                          }
                                        }),
                ended_well_or_with_a_message,
                std::string(n < 24 ? "^(" : "^(none failed\n|") +
                    "done\n|fatal error: runq: out of memory .*\n"
                    "|panic: (std::bad_alloc|runq: a task that has forked others went on past its end.*)\n(.|\n)*)$");
  }
}

}  // namespace
