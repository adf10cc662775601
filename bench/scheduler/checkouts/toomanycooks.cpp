// SPDX-License-Identifier: MIT
// The scheduler benchmark: TooManyCooks' ex_cpu, from a checkout of tmc-examples. g++ 12 copies what fork() returns
// into a coroutine's frame, which those objects forbid; so the tasks start by spawn_tuple() and spawn_many().
#define TMC_IMPL
#include <array>
#include <atomic>
#include <vector>

#include <tmc/all_headers.hpp>

#include "../rows.hpp"

namespace {

tmc::task<long> fib(long n) {
  if (n < 2) co_return n;
  const auto [a, b] = co_await tmc::spawn_tuple(fib(n - 1), fib(n - 2));
  co_return a + b;
}

tmc::task<long> skynet(long first, long leaves) {
  if (leaves == 1) co_return first;
  std::vector<tmc::task<long>> parts;
  parts.reserve(10);
  for (int i = 0; i != 10; ++i) parts.push_back(skynet(first + i * (leaves / 10), leaves / 10));
  const std::array<long, 10> sums = co_await tmc::spawn_many<10>(parts.begin());
  long total = 0;
  for (const long part : sums) total += part;
  co_return total;
}

tmc::task<long> queens(bench::board b, long n, long row) {
  if (row == n) co_return 1;
  std::vector<tmc::task<long>> parts;
  for (long col = 0; col != n; ++col) {
    if (b.safe(row, col)) parts.push_back(queens(b.with(row, col), n, row + 1));
  }
  if (parts.empty()) co_return 0;
  const std::vector<long> found = co_await tmc::spawn_many(parts.begin(), parts.end());
  long total = 0;
  for (const long some : found) total += some;
  co_return total;
}

tmc::task<long> tree(long nodes, long id) {
  if (nodes < 2) co_return nodes;
  const long left = bench::left_part(nodes - 1, id);
  const auto [a, b] = co_await tmc::spawn_tuple(tree(left, id + 1), tree(nodes - 1 - left, id + 1 + left));
  co_return a + b + 1;
}

// Tasks that work, and how many of them worked.
tmc::task<void> child(std::atomic<long>& done, long steps) {
  done.fetch_add(bench::work(steps) != 0 ? 1 : 0, std::memory_order::relaxed);
  co_return;
}
tmc::task<void> children(std::atomic<long>& done, long n, long steps) {
  std::vector<tmc::task<void>> tasks;
  tasks.reserve(static_cast<std::size_t>(n));
  for (long i = 0; i != n; ++i) tasks.push_back(child(done, steps));
  co_await tmc::spawn_many(tasks.begin(), tasks.end());
}

class pool {
 public:
  explicit pool(unsigned workers) { executor_.set_thread_count(workers).init(); }
  /// Nanoseconds until this task has ended, with this result.
  double checked(tmc::task<long> task, long right, const char* what) {
    return bench::timed([&] { bench::require(tmc::post_waitable(executor_, std::move(task)).get() == right, what); });
  }
  double run_children(long n, long steps) {
    std::atomic<long> done{0};
    const double ns = bench::timed([&] { tmc::post_waitable(executor_, children(done, n, steps)).get(); });
    bench::require(done == n, "children");
    return ns;
  }

 private:
  tmc::ex_cpu executor_;
};

double fib_row(unsigned workers, long n) {
  return pool(workers).checked(fib(n), bench::fib_value(n), "fib") / bench::fib_forks(n);
}
double skynet_row(unsigned workers, long leaves) {
  return pool(workers).checked(skynet(0, leaves), bench::skynet_value(leaves), "skynet") / static_cast<double>(leaves);
}
double queens_row(unsigned workers, long n) {
  return pool(workers).checked(queens({}, n, 0), bench::queens_value(n), "queens") / 1e6;
}
double tree_row(unsigned workers, long nodes) {
  return pool(workers).checked(tree(nodes, 1), nodes, "tree") / static_cast<double>(nodes);
}
double spawn_row(unsigned workers, long n) { return pool(workers).run_children(n, 0) / static_cast<double>(n); }
double grain_row(unsigned workers, long ns) {
  const bench::grain size(ns);
  return size.percent(pool(workers).run_children(size.tasks, size.steps), workers);
}
double idle_row(unsigned workers, long ms) {
  pool all(workers);
  static_cast<void>(all.run_children(workers, 0));
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
