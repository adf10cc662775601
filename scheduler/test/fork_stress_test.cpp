// SPDX-License-Identifier: MIT
// fork and join under load, with each of the three policies.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "fork_policies.hpp"
#include "support.hpp"

namespace {

using runq::fork_policy;
using runq::task;
using sched_test::fib;
using sched_test::rounds;

class fork_stress : public sched_test::with_fork_policy {};
INSTANTIATE_TEST_SUITE_P(policies, fork_stress, sched_test::every_fork_policy, sched_test::name_of_fork_policy);

task<> count(std::atomic<std::uint64_t>& n) {
  n.fetch_add(1, std::memory_order::relaxed);
  co_return;
}

#ifdef NDEBUG
constexpr std::size_t slower = 1;
#else
constexpr std::size_t slower = 4;
#endif

// The number of forks does not fit into 16 bits, nor into any queue. With continuations the children need not be in
// memory all at once; with the other policies they are.
TEST_P(fork_stress, so_many_forks_before_one_join_that_no_queue_holds_them) {
  constexpr std::size_t forks = sched_test::slow_build ? 100'000 : 1'000'000;
  const std::size_t runs =
      std::max<std::size_t>(rounds(100) / slower / (GetParam() == fork_policy::continuation ? 1 : 4), 1);
  runq::scheduler s({.procs = 2, .forks = GetParam()});
  for (std::size_t run = 0; run != runs; ++run) {
    std::atomic<std::uint64_t> n{0};
    s.run([&]() -> task<> {
      for (std::size_t i = 0; i != forks; ++i) co_await runq::fork(count(n));
      co_await runq::join();
      EXPECT_EQ(n, forks);
    });
    ASSERT_EQ(n, forks);
  }
}

TEST_P(fork_stress, fib_on_any_number_of_processors) {
  for (const unsigned procs : sched_test::proc_counts) {
    for (std::size_t i = 0; i != rounds(20); ++i) {
      ASSERT_EQ(runq::run(fib(22), {.procs = procs, .forks = GetParam()}), 17711);
    }
  }
}

// WT11, ten thousand times in a row: fib(4) is so short that most of each run is its beginning and its end.
TEST_P(fork_stress, WT11_fib_4_is_3_ten_thousand_times) {
  for (const unsigned procs : sched_test::proc_counts) {
    runq::scheduler s({.procs = procs, .forks = GetParam()});
    s.run([]() -> task<> {
      for (std::size_t i = 0; i != rounds(100'000); ++i) EXPECT_EQ(co_await fib(4), 3);
    });
  }
}

task<std::uint64_t> sum_of(const std::vector<std::uint32_t>& values, std::size_t from, std::size_t to) {
  if (to - from <= 512) {
    co_return std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(from),
                              values.begin() + static_cast<std::ptrdiff_t>(to), std::uint64_t{0});
  }
  const std::size_t middle = from + (to - from) / 2;
  auto left = co_await runq::fork(sum_of(values, from, middle));
  const auto right = co_await sum_of(values, middle, to);
  co_await runq::join();
  co_return left.get() + right;
}

TEST_P(fork_stress, a_sum_over_halves_sees_what_was_written_before) {
  std::vector<std::uint32_t> values(1 << 16);
  for (std::size_t i = 0; i != rounds(200); ++i) {
    const std::uint64_t sum = runq::run(
        [&]() -> task<std::uint64_t> {
          std::iota(values.begin(), values.end(), static_cast<std::uint32_t>(i));
          co_return co_await sum_of(values, 0, values.size());
        },
        {.procs = 4, .forks = GetParam()});
    ASSERT_EQ(sum, values.size() * i + values.size() * (values.size() - 1) / 2);
  }
}

task<int> waits_at_leaves(int depth, runq::channel<int>& c) {
  if (depth == 0) {
    if (*co_await c.receive() % 2 == 0) co_await runq::yield();
    co_return 1;
  }
  auto a = co_await runq::fork(waits_at_leaves(depth - 1, c));
  auto b = co_await runq::fork(waits_at_leaves(depth - 1, c));
  const int own = co_await waits_at_leaves(depth - 1, c);
  co_await runq::join();
  co_return a.get() + b.get() + own;
}

TEST_P(fork_stress, leaves_that_wait_for_a_producer) {
  for (const unsigned procs : sched_test::proc_counts) {
    for (std::size_t i = 0; i != rounds(100); ++i) {
      const int leaves = runq::run(
          []() -> task<int> {
            runq::channel<int> c(4);
            runq::go([&]() -> task<> {
              for (int n = 0; n != 729; ++n) co_await c.send(n);
            });
            co_return co_await waits_at_leaves(6, c);
          },
          {.procs = procs, .forks = GetParam()});
      ASSERT_EQ(leaves, 729);
    }
  }
}

}  // namespace
