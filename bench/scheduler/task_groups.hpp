// SPDX-License-Identifier: MIT
// The rows of a pool whose tasks are functions that start others in a group, and wait for the group.
//
// A Pool has
//   explicit Pool(unsigned workers)
//   void run(F f)                     calls f() on a worker and returns when it has
//   class group: explicit group(Pool&), void run(F f), void wait()
#pragma once

#include <atomic>

#include "rows.hpp"

namespace bench {

template <class Pool>
class task_groups {
 public:
  /// The program, with the pool's own row `idle`.
  static int run(int argc, char** argv, const row& idle) {
    return bench::run(argc, argv,
                      {{"fib", fib_row},
                       {"skynet", skynet_row},
                       {"queens", queens_row},
                       {"tree", tree_row},
                       {"spawn", spawn_row},
                       {"grain", grain_row},
                       {"idle", idle}});
  }

 private:
  using group = typename Pool::group;

  template <class F>
  static double timed_in(unsigned workers, F&& f) {
    Pool pool(workers);
    double ns = 0;
    pool.run([&] { ns = timed([&] { f(pool); }); });
    return ns;
  }

  static long fib(Pool& pool, long n) {
    if (n < 2) return n;
    long a = 0;
    group g(pool);
    g.run([&] { a = fib(pool, n - 1); });
    const long b = fib(pool, n - 2);
    g.wait();
    return a + b;
  }
  static double fib_row(unsigned workers, long n) {
    return timed_in(workers, [n](Pool& pool) { require(fib(pool, n) == fib_value(n), "fib"); }) / fib_forks(n);
  }

  static long skynet(Pool& pool, long first, long leaves) {
    if (leaves == 1) return first;
    long sums[10];
    group g(pool);
    for (int i = 0; i != 10; ++i) {
      g.run([=, &pool, &sums] { sums[i] = skynet(pool, first + i * (leaves / 10), leaves / 10); });
    }
    g.wait();
    long total = 0;
    for (const long part : sums) total += part;
    return total;
  }
  static double skynet_row(unsigned workers, long leaves) {
    const auto body = [leaves](Pool& pool) { require(skynet(pool, 0, leaves) == skynet_value(leaves), "skynet"); };
    return timed_in(workers, body) / static_cast<double>(leaves);
  }

  static long queens(Pool& pool, const board& b, long n, long placed) {
    if (placed == n) return 1;
    long found[16] = {};
    group g(pool);
    for (long col = 0; col != n; ++col) {
      if (!b.safe(placed, col)) continue;
      g.run([next = b.with(placed, col), n, placed, col, &pool, &found] {
        found[col] = queens(pool, next, n, placed + 1);
      });
    }
    g.wait();
    long total = 0;
    for (const long some : found) total += some;
    return total;
  }
  static double queens_row(unsigned workers, long n) {
    return timed_in(workers, [n](Pool& pool) { require(queens(pool, {}, n, 0) == queens_value(n), "queens"); }) / 1e6;
  }

  static long tree(Pool& pool, long nodes, long id) {
    if (nodes < 2) return nodes;
    const long left = left_part(nodes - 1, id);
    long a = 0;
    group g(pool);
    g.run([&] { a = tree(pool, left, id + 1); });
    const long b = tree(pool, nodes - 1 - left, id + 1 + left);
    g.wait();
    return a + b + 1;
  }
  static double tree_row(unsigned workers, long nodes) {
    const auto body = [nodes](Pool& pool) { require(tree(pool, nodes, 1) == nodes, "tree"); };
    return timed_in(workers, body) / static_cast<double>(nodes);
  }

  static double spawn_row(unsigned workers, long n) {
    const auto body = [n](Pool& pool) {
      std::atomic<long> done{0};
      group g(pool);
      for (long i = 0; i != n; ++i) g.run([&] { done.fetch_add(1, std::memory_order::relaxed); });
      g.wait();
      require(done == n, "spawn");
    };
    return timed_in(workers, body) / static_cast<double>(n);
  }

  static double grain_row(unsigned workers, long ns) {
    const grain size(ns);
    const double wall = timed_in(workers, [&size](Pool& pool) {
      std::atomic<long> done{0};
      group g(pool);
      for (long i = 0; i != size.tasks; ++i) {
        g.run([&] { done.fetch_add(work(size.steps) != 0 ? 1 : 0, std::memory_order::relaxed); });
      }
      g.wait();
      require(done == size.tasks, "grain");
    });
    return size.percent(wall, workers);
  }
};

}  // namespace bench
