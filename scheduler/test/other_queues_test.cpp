// SPDX-License-Identifier: MIT
// The scheduler with the queues that are not the default, a split_deque for forks and a split_ring for all other tasks,
// gives the same answers.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <runq/detail/fork_deque.hpp>
#include <runq/detail/processor_queue.hpp>
#include <runq/split_deque.hpp>
#include <runq/split_ring.hpp>

#include "fork_policies.hpp"
#include "support.hpp"

namespace {

using runq::task;
using sched_test::fib;
using sched_test::rounds;

TEST(other_queues, are_those_of_the_library) {
  using namespace runq::detail;
  using forks = runq::basic_split_deque<frame*, 512, runq::default_split_deque, policy>;
  EXPECT_TRUE((std::is_same_v<fork_deque, forks>));
  using ring = runq::basic_split_ring<strand*, 256, runq::default_split_ring, policy>;
  using tasks = runq::basic_local_queue<&strand::link, 256, std::uint32_t, policy, ring>;
  EXPECT_TRUE((std::is_same_v<processor_queue, tasks>));
}

TEST(other_queues, forks_and_joins_give_the_same_results) {
  sched_test::with_each_policy_on_any_number_of_processors(
      [](const runq::options& o) { EXPECT_EQ(runq::run(fib(16), o), 987); });
}

task<int> chain(int n) {
  if (n == 0) co_return 0;
  auto below = co_await runq::fork(chain(n - 1));
  co_await runq::join();
  co_return below.get() + 1;
}

// The deque has room for 512 forks. Further ones become tasks.
TEST(other_queues, more_forks_than_a_deque_has_room_for_wait_for_each_other) {
  sched_test::with_each_policy_on_any_number_of_processors(
      [](const runq::options& o) { EXPECT_EQ(runq::run(chain(5'000), o), 5'000); });
}

TEST(other_queues, more_forks_than_a_deque_has_room_for_come_before_one_join) {
  sched_test::with_each_policy_on_any_number_of_processors([](const runq::options& o) {
    const std::size_t n = rounds(100'000);
    std::atomic<std::size_t> ended{0};
    runq::run(
        [&]() -> task<> {
          const auto count = [&]() -> task<> {
            ended.fetch_add(1, std::memory_order::relaxed);
            co_return;
          };
          for (std::size_t i = 0; i != n; ++i) co_await runq::fork(count());
          co_await runq::join();
          EXPECT_EQ(ended, n);
        },
        o);
  });
}

TEST(other_queues, tasks_that_overflow_yield_and_are_moved_run_once_each) {
  for (const unsigned procs : {1U, 4U}) {
    const std::size_t n = rounds(200'000);
    std::atomic<std::uint64_t> ran{0};
    runq::scheduler s({.procs = procs});
    const auto outside = s.attach();
    outside.go([&]() -> task<> {
      for (std::size_t i = 0; i != n; ++i) {
        runq::go([&]() -> task<> {
          co_await runq::yield();
          ran.fetch_add(1, std::memory_order::relaxed);
        });
        // A processor that goes leaves what it has in its ring and its deque to the others.
        if (i % 1000 == 0) runq::set_procs(1 + static_cast<unsigned>(i / 1000) % procs);
        if (i % 1000 == 500) {
          EXPECT_EQ(co_await fib(8), 21);
        }
      }
    });
    s.wait();
    EXPECT_EQ(ran, n);
  }
}

TEST(other_queues, an_overflow_leaves_half_of_the_ring) {
  runq::scheduler s({.procs = 1});
  s.run([&]() -> task<> {
    for (int i = 0; i != 258; ++i) runq::go([] {});
    EXPECT_EQ(s.stats().local_queues, std::vector<std::size_t>{128});
    EXPECT_EQ(s.stats().global_queue, 129U);
    co_return;
  });
}

TEST(other_queues, deadlocks_are_found) {
  RUNQ_EXPECT_STATUS_2(runq::run([]() -> task<> { (void)co_await runq::select(); }, {.procs = 4}),
                       testing::ContainsRegex(sched_test::deadlock_line));
}

}  // namespace
