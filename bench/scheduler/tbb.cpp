// SPDX-License-Identifier: MIT
// The scheduler benchmark: oneTBB's task_group.
#include <atomic>
#include <ctime>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <unistd.h>

#include "rows.hpp"

namespace {

using oneapi::tbb::task_group;

long fib(int n) {
  if (n < 2) return n;
  long a = 0;
  task_group g;
  g.run([&] { a = fib(n - 1); });
  const long b = fib(n - 2);
  g.wait();
  return a + b;
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

long queens(const bench::board& b, int row) {
  if (row == bench::queens) return 1;
  long found[16] = {};
  task_group g;
  for (int col = 0; col != bench::queens; ++col) {
    if (!b.safe(row, col)) continue;
    bench::board next = b;
    next.column[row] = static_cast<signed char>(col);
    g.run([=, &found] { found[col] = queens(next, row + 1); });
  }
  g.wait();
  long total = 0;
  for (const long n : found) total += n;
  return total;
}

template <class F>
double timed(unsigned workers, double divide_by, F&& f) {
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, workers);
  oneapi::tbb::task_arena arena(static_cast<int>(workers));
  double ns = 0;
  arena.execute([&] {
    const double begin = bench::now_ns();
    f();
    ns = bench::now_ns() - begin;
  });
  return ns / divide_by;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run(
      argc, argv,
      {{"fib",
        [](unsigned w) {
          return timed(w, bench::fib_forks, [] { bench::require(fib(bench::fib_n) == bench::fib_value, "fib"); });
        }},
       {"skynet",
        [](unsigned w) {
          return timed(w, 1e6,
                       [] { bench::require(skynet(0, bench::skynet_leaves) == bench::skynet_value, "skynet"); });
        }},
       {"queens",
        [](unsigned w) {
          return timed(w, 1e6, [] { bench::require(queens({}, 0) == bench::queens_value, "queens"); });
        }},
       {"spawn", [](unsigned w) {
          return timed(w, bench::spawns, [] {
            std::atomic<int> done{0};
            task_group g;
            for (int i = 0; i != bench::spawns; ++i) g.run([&] { done.fetch_add(1, std::memory_order::relaxed); });
            g.wait();
            bench::require(done == bench::spawns, "spawn");
          });
        }}});
}
