// SPDX-License-Identifier: MIT
// The scheduler benchmark: oneTBB's task_group. It has no channels, no yield and no task that waits.
#include <atomic>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include "rows.hpp"

namespace {

using oneapi::tbb::task_group;

template <class F>
double timed_in(unsigned workers, F&& f) {
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, workers);
  oneapi::tbb::task_arena arena(static_cast<int>(workers));
  double ns = 0;
  arena.execute([&] { ns = bench::timed(f); });
  return ns;
}

long fib(long n) {
  if (n < 2) return n;
  long a = 0;
  task_group g;
  g.run([&] { a = fib(n - 1); });
  const long b = fib(n - 2);
  g.wait();
  return a + b;
}

double fib_row(unsigned workers, long n) {
  return timed_in(workers, [n] { bench::require(fib(n) == bench::fib_value(n), "fib"); }) / bench::fib_forks(n);
}

long skynet(long first, long leaves) {
  if (leaves == 1) return first;
  long sums[10];
  task_group g;
  for (int i = 0; i != 10; ++i) g.run([=, &sums] { sums[i] = skynet(first + i * (leaves / 10), leaves / 10); });
  g.wait();
  long total = 0;
  for (const long part : sums) total += part;
  return total;
}

double skynet_row(unsigned workers, long leaves) {
  const auto body = [leaves] { bench::require(skynet(0, leaves) == bench::skynet_value(leaves), "skynet"); };
  return timed_in(workers, body) / static_cast<double>(leaves);
}

long queens(const bench::board& b, long n, long row) {
  if (row == n) return 1;
  long found[16] = {};
  task_group g;
  for (long col = 0; col != n; ++col) {
    if (!b.safe(row, col)) continue;
    g.run([next = b.with(row, col), n, row, col, &found] { found[col] = queens(next, n, row + 1); });
  }
  g.wait();
  long total = 0;
  for (const long some : found) total += some;
  return total;
}

double queens_row(unsigned workers, long n) {
  return timed_in(workers, [n] { bench::require(queens({}, n, 0) == bench::queens_value(n), "queens"); }) / 1e6;
}

long tree(long nodes, long id) {
  if (nodes < 2) return nodes;
  const long left = bench::left_part(nodes - 1, id);
  long a = 0;
  task_group g;
  g.run([&] { a = tree(left, id + 1); });
  const long b = tree(nodes - 1 - left, id + 1 + left);
  g.wait();
  return a + b + 1;
}

double tree_row(unsigned workers, long nodes) {
  return timed_in(workers, [nodes] { bench::require(tree(nodes, 1) == nodes, "tree"); }) / static_cast<double>(nodes);
}

double spawn_row(unsigned workers, long n) {
  const auto body = [n] {
    std::atomic<long> done{0};
    task_group g;
    for (long i = 0; i != n; ++i) g.run([&] { done.fetch_add(1, std::memory_order::relaxed); });
    g.wait();
    bench::require(done == n, "spawn");
  };
  return timed_in(workers, body) / static_cast<double>(n);
}

double grain_row(unsigned workers, long ns) {
  const bench::grain size(ns);
  const double wall = timed_in(workers, [&] {
    std::atomic<long> done{0};
    task_group g;
    for (long i = 0; i != size.tasks; ++i) {
      g.run([&] { done.fetch_add(bench::work(size.steps) != 0 ? 1 : 0, std::memory_order::relaxed); });
    }
    g.wait();
    bench::require(done == size.tasks, "grain");
  });
  return size.percent(wall, workers);
}

double idle_row(unsigned workers, long ms) {
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, workers);
  oneapi::tbb::task_arena arena(static_cast<int>(workers), 0);
  for (unsigned i = 0; i != workers; ++i) arena.enqueue([] {});
  return bench::idle_cpu(ms);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run(argc, argv,
                    {{"fib", fib_row},
                     {"skynet", skynet_row},
                     {"queens", queens_row},
                     {"tree", tree_row},
                     {"spawn", spawn_row},
                     {"grain", grain_row},
                     {"idle", idle_row}});
}
