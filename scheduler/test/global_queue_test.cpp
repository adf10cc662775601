// SPDX-License-Identifier: MIT
// Row L26: the same scheduler with one locked queue for all, as Go had it before 1.1, gives the same answers.
#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "fork_policies.hpp"
#include "support.hpp"

namespace {

using runq::task;
using sched_test::fib;

TEST(global_queue, L26_forks_and_joins_give_the_same_results) {
  sched_test::with_each_policy_on_any_number_of_processors(
      [](const runq::options& o) { EXPECT_EQ(runq::run(fib(12), o), 144); });
}

TEST(global_queue, L26_tasks_channels_and_selects_give_the_same_results) {
  sched_test::with_each_policy_on_any_number_of_processors([](const runq::options& o) {
    const int sum = runq::run(
        []() -> task<int> {
          runq::channel<int> a;
          runq::channel<int> b(3);
          runq::wait_group group;
          group.add(20);
          for (int i = 0; i != 20; ++i) {
            runq::go([&, i]() -> task<> {
              co_await (i % 2 == 0 ? a : b).send(i);
              group.done();
            });
          }
          int total = 0;
          for (int i = 0; i != 20; ++i) {
            std::optional<int> v;
            (void)co_await runq::select(runq::on_receive(a, v), runq::on_receive(b, v));
            total += *v;
          }
          co_await group.wait();
          co_return total;
        },
        o);
    EXPECT_EQ(sum, 190);
  });
}

TEST(global_queue, L26_tasks_run_in_the_order_in_which_they_were_started) {
  std::vector<int> order;
  runq::run(
      [&]() -> task<> {
        for (int i = 0; i != 5; ++i) runq::go([&, i] { order.push_back(i); });
        co_await runq::yield();
      },
      {.procs = 1});
  EXPECT_THAT(order, testing::ElementsAre(0, 1, 2, 3, 4));
}

TEST(global_queue, L26_four_tasks_run_at_once) {
  runq::run(
      []() -> task<> {
        std::atomic<unsigned> turn{0};
        runq::wait_group group;
        group.add(4);
        for (unsigned i = 0; i != 4; ++i) {
          runq::go([&, i] {
            sched_test::pass_tokens(turn, i, 4, 20);
            group.done();
          });
        }
        co_await group.wait();
      },
      {.procs = 4});
}

TEST(global_queue, L26_no_processor_has_a_queue_of_its_own) {
  runq::scheduler s({.procs = 4});
  s.run([&]() -> task<> {
    runq::set_procs(1);
    // Waits until the other machines have stopped looking for work, so that they take none of the tasks below.
    do {
      co_await runq::yield();
    } while (runq::this_task::processor() != 0 || s.stats().spinning != 0);
    for (int i = 0; i != 300; ++i) runq::go([] {});
    EXPECT_EQ(s.stats().local_queues, std::vector<std::size_t>{0});
    EXPECT_EQ(s.stats().global_queue, 300U);
  });
  EXPECT_EQ(s.stats().stolen, 0U);
}

TEST(global_queue, L26_deadlocks_are_found) {
  RUNQ_EXPECT_STATUS_2(runq::run([]() -> task<> { (void)co_await runq::select(); }, {.procs = 4}),
                       testing::ContainsRegex(sched_test::deadlock_line));
}

TEST(global_queue, L26_a_million_tasks_run_once_each) {
  const std::size_t n = sched_test::rounds(1'000'000);
  for (const unsigned procs : {1U, 4U}) {
    std::atomic<std::uint64_t> ran{0};
    runq::scheduler s({.procs = procs});
    const auto outside = s.attach();
    outside.go([&]() -> task<> {
      for (std::size_t i = 0; i != n; ++i) {
        runq::go([&] { ran.fetch_add(1, std::memory_order::relaxed); });
        if (i % 1000 == 0) co_await runq::yield();
      }
    });
    s.wait();
    EXPECT_EQ(ran, n);
  }
}

}  // namespace
