// SPDX-License-Identifier: MIT
// The scheduler benchmark: libfork's lazy_pool, from a checkout. Its tasks fork and join; none waits.
#include <atomic>

#include <libfork/core.hpp>
#include <libfork/schedule.hpp>

#include "../rows.hpp"

namespace {

constexpr auto fib = [](auto self, long n) -> lf::task<long> {
  if (n < 2) co_return n;
  long a = 0;
  long b = 0;
  co_await lf::fork(&a, self)(n - 1);
  co_await lf::call(&b, self)(n - 2);
  co_await lf::join;
  co_return a + b;
};

constexpr auto skynet = [](auto self, long first, long leaves) -> lf::task<long> {
  if (leaves == 1) co_return first;
  long sums[10];
  for (int i = 0; i != 10; ++i) co_await lf::fork(&sums[i], self)(first + i * (leaves / 10), leaves / 10);
  co_await lf::join;
  long total = 0;
  for (const long part : sums) total += part;
  co_return total;
};

constexpr auto queens = [](auto self, bench::board b, long n, long row) -> lf::task<long> {
  if (row == n) co_return 1;
  long found[16] = {};
  for (long col = 0; col != n; ++col) {
    if (b.safe(row, col)) co_await lf::fork(&found[col], self)(b.with(row, col), n, row + 1);
  }
  co_await lf::join;
  long total = 0;
  for (const long some : found) total += some;
  co_return total;
};

constexpr auto tree = [](auto self, long nodes, long id) -> lf::task<long> {
  if (nodes < 2) co_return nodes;
  const long left = bench::left_part(nodes - 1, id);
  long a = 0;
  long b = 0;
  co_await lf::fork(&a, self)(left, id + 1);
  co_await lf::call(&b, self)(nodes - 1 - left, id + 1 + left);
  co_await lf::join;
  co_return a + b + 1;
};

// A child that works, and how many of them worked.
constexpr auto child = [](auto, std::atomic<long>* done, long steps) -> lf::task<void> {
  done->fetch_add(bench::work(steps) != 0 ? 1 : 0, std::memory_order::relaxed);
  co_return;
};
// libfork counts the steals between two joins in 16 bits. So it has no row `forks`, which has a million forks before
// one join: with two workers that ends in a segmentation fault.
constexpr long most_forks = 65'535;
constexpr auto children = [](auto, std::atomic<long>* done, long n, long steps) -> lf::task<void> {
  for (long i = 1; i <= n; ++i) {
    co_await lf::fork(child)(done, steps);
    if (i % most_forks == 0) co_await lf::join;
  }
  co_await lf::join;
};

template <class Task, class... Args>
double checked(unsigned workers, long right, const char* what, Task task, Args... args) {
  lf::lazy_pool pool(workers);
  return bench::timed([&] { bench::require(lf::sync_wait(pool, task, args...) == right, what); });
}

double fib_row(unsigned workers, long n) {
  return checked(workers, bench::fib_value(n), "fib", fib, n) / bench::fib_forks(n);
}
double skynet_row(unsigned workers, long leaves) {
  return checked(workers, bench::skynet_value(leaves), "skynet", skynet, 0L, leaves) / static_cast<double>(leaves);
}
double queens_row(unsigned workers, long n) {
  return checked(workers, bench::queens_value(n), "queens", queens, bench::board{}, n, 0L) / 1e6;
}
double tree_row(unsigned workers, long nodes) {
  return checked(workers, nodes, "tree", tree, nodes, 1L) / static_cast<double>(nodes);
}
double grain_row(unsigned workers, long ns) {
  const bench::grain size(ns);
  lf::lazy_pool pool(workers);
  std::atomic<long> done{0};
  const double wall = bench::timed([&] { lf::sync_wait(pool, children, &done, size.tasks, size.steps); });
  bench::require(done == size.tasks, "grain");
  return size.percent(wall, workers);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run(
      argc, argv,
      {{"fib", fib_row}, {"skynet", skynet_row}, {"queens", queens_row}, {"tree", tree_row}, {"grain", grain_row}});
}
