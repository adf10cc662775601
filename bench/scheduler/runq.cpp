// SPDX-License-Identifier: MIT
// The scheduler benchmark: this project. Built twice: with the run queues, and with one global queue and nothing per
// processor. RUNQ_FORKS=child|task in the environment chooses what a fork does.
#include <atomic>
#include <cstdlib>
#include <string_view>

#include <runq/runq.hpp>

#include "rows.hpp"

namespace {

using runq::fork;
using runq::join;
using runq::task;

runq::options with(unsigned workers) {
  runq::options o;
  o.procs = workers;
  const char* const wanted = std::getenv("RUNQ_FORKS");
  const std::string_view policy = wanted == nullptr ? "" : wanted;
  if (policy == "child") o.forks = runq::fork_policy::child;
  if (policy == "task" || !runq::detail::has_processor_queues) o.forks = runq::fork_policy::task;
  return o;
}

// The time of the main task, without that of making a scheduler.
template <class F>
double timed_in(unsigned workers, F body) {
  runq::scheduler s(with(workers));
  double ns = 0;
  s.run([&]() -> task<> {
    const double begin = bench::now_ns();
    co_await body();
    ns = bench::now_ns() - begin;
  });
  return ns;
}

task<long> fib(long n) {
  if (n < 2) co_return n;
  auto a = co_await fork(fib(n - 1));
  const long b = co_await fib(n - 2);
  co_await join();
  co_return a.get() + b;
}

double fib_row(unsigned workers, long n) {
  return timed_in(workers, [n]() -> task<> { bench::require(co_await fib(n) == bench::fib_value(n), "fib"); }) /
         bench::fib_forks(n);
}

task<> skynet(long first, long leaves, long* sum) {
  if (leaves == 1) {
    *sum = first;
    co_return;
  }
  long sums[10];
  for (int i = 0; i != 10; ++i) co_await fork(skynet(first + i * (leaves / 10), leaves / 10, &sums[i]));
  co_await join();
  long total = 0;
  for (const long part : sums) total += part;
  *sum = total;
}

double skynet_row(unsigned workers, long leaves) {
  const auto body = [leaves]() -> task<> {
    long sum = 0;
    co_await fork(skynet(0, leaves, &sum));
    co_await join();
    bench::require(sum == bench::skynet_value(leaves), "skynet");
  };
  return timed_in(workers, body) / static_cast<double>(leaves);
}

task<> queens(bench::board b, long n, long row, long* solutions) {
  if (row == n) {
    *solutions = 1;
    co_return;
  }
  long found[16] = {};
  for (long col = 0; col != n; ++col) {
    if (b.safe(row, col)) co_await fork(queens(b.with(row, col), n, row + 1, &found[col]));
  }
  co_await join();
  long total = 0;
  for (const long some : found) total += some;
  *solutions = total;
}

double queens_row(unsigned workers, long n) {
  const auto body = [n]() -> task<> {
    long solutions = 0;
    co_await queens({}, n, 0, &solutions);
    bench::require(solutions == bench::queens_value(n), "queens");
  };
  return timed_in(workers, body) / 1e6;
}

task<long> tree(long nodes, long id) {
  if (nodes == 0) co_return 0;
  if (nodes == 1) co_return 1;
  const long left = bench::left_part(nodes - 1, id);
  auto a = co_await fork(tree(left, id + 1));
  const long b = co_await tree(nodes - 1 - left, id + 1 + left);
  co_await join();
  co_return a.get() + b + 1;
}

double tree_row(unsigned workers, long nodes) {
  return timed_in(workers, [nodes]() -> task<> { bench::require(co_await tree(nodes, 1) == nodes, "tree"); }) /
         static_cast<double>(nodes);
}

double forks_row(unsigned workers, long n) {
  const auto body = [n]() -> task<> {
    std::atomic<long> done{0};
    const auto child = [](std::atomic<long>& counter) -> task<> {
      counter.fetch_add(1, std::memory_order::relaxed);
      co_return;
    };
    for (long i = 0; i != n; ++i) co_await fork(child(done));
    co_await join();
    bench::require(done == n, "forks");
  };
  return timed_in(workers, body) / static_cast<double>(n);
}

double spawn_row(unsigned workers, long n) {
  const auto body = [n]() -> task<> {
    std::atomic<long> done{0};
    runq::wait_group group;
    group.add(n);
    for (long i = 0; i != n; ++i) {
      runq::go([&] {
        done.fetch_add(1, std::memory_order::relaxed);
        group.done();
      });
    }
    co_await group.wait();
    bench::require(done == n, "spawn");
  };
  return timed_in(workers, body) / static_cast<double>(n);
}

double pingpong_row(unsigned workers, long rounds) {
  const auto body = [rounds]() -> task<> {
    runq::channel<long> there;
    runq::channel<long> back;
    runq::go([&]() -> task<> {
      while (const auto n = co_await there.receive()) co_await back.send(*n + 1);
      back.close();
    });
    for (long i = 0; i != rounds; ++i) {
      co_await there.send(i);
      bench::require(*co_await back.receive() == i + 1, "pingpong");
    }
    there.close();
    static_cast<void>(co_await back.receive());
  };
  return timed_in(workers, body) / static_cast<double>(rounds);
}

double yield_row(unsigned workers, long each) {
  const auto body = [each]() -> task<> {
    runq::wait_group group;
    group.add(bench::yield_tasks);
    for (long i = 0; i != bench::yield_tasks; ++i) {
      runq::go([&]() -> task<> {
        for (long k = 0; k != each; ++k) co_await runq::yield();
        group.done();
      });
    }
    co_await group.wait();
  };
  return timed_in(workers, body) / static_cast<double>(bench::yield_tasks * each);
}

double grain_row(unsigned workers, long ns) {
  const bench::grain g(ns);
  const double wall = timed_in(workers, [&]() -> task<> {
    std::atomic<long> done{0};
    runq::wait_group group;
    group.add(g.tasks);
    for (long i = 0; i != g.tasks; ++i) {
      runq::go([&] {
        done.fetch_add(bench::work(g.steps) != 0 ? 1 : 0, std::memory_order::relaxed);
        group.done();
      });
    }
    co_await group.wait();
    bench::require(done == g.tasks, "grain");
  });
  return g.percent(wall, workers);
}

double memory_row(unsigned workers, long n) {
  double bytes = 0;
  static_cast<void>(timed_in(workers, [&]() -> task<> {
    runq::channel<int> never;
    runq::wait_group begun;
    const double before = bench::resident_bytes();
    begun.add(n);
    for (long i = 0; i != n; ++i) {
      runq::go([&]() -> task<> {
        begun.done();
        static_cast<void>(co_await never.receive());
      });
    }
    co_await begun.wait();
    bytes = (bench::resident_bytes() - before) / static_cast<double>(n);
    never.close();
  }));
  return bytes;
}

double idle_row(unsigned workers, long ms) {
  runq::scheduler s(with(workers));
  const auto keep = s.attach();
  for (unsigned i = 0; i != workers; ++i) keep.go([] {});
  return bench::idle_cpu(ms);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run(argc, argv,
                    {{"fib", fib_row},
                     {"skynet", skynet_row},
                     {"queens", queens_row},
                     {"tree", tree_row},
                     {"forks", forks_row},
                     {"spawn", spawn_row},
                     {"pingpong", pingpong_row},
                     {"yield", yield_row},
                     {"grain", grain_row},
                     {"memory", memory_row},
                     {"idle", idle_row}});
}
