// SPDX-License-Identifier: MIT
// The scheduler benchmark: this project. Built twice: with the run queues, and with one global queue.
#include <ctime>
#include <memory>

#include <runq/runq.hpp>
#include <unistd.h>

#include "rows.hpp"

namespace {

using runq::fork;
using runq::join;
using runq::task;

runq::fork_policy policy = runq::fork_policy::continuation;

runq::options with(unsigned workers) {
  runq::options o;
  o.procs = workers;
  o.forks = policy;
  return o;
}

task<long> fib(int n) {
  if (n < 2) co_return n;
  auto a = co_await fork(fib(n - 1));
  const long b = co_await fib(n - 2);
  co_await join();
  co_return a.get() + b;
}

double fib_row(unsigned workers) {
  runq::scheduler s(with(workers));
  const double begin = bench::now_ns();
  bench::require(s.run(fib(bench::fib_n)) == bench::fib_value, "fib");
  return (bench::now_ns() - begin) / bench::fib_forks;
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

double skynet_row(unsigned workers) {
  runq::scheduler s(with(workers));
  long sum = 0;
  const double begin = bench::now_ns();
  s.run(skynet(0, bench::skynet_leaves, &sum));
  bench::require(sum == bench::skynet_value, "skynet");
  return (bench::now_ns() - begin) / 1e6;
}

task<> queens(bench::board b, int row, long* solutions) {
  if (row == bench::queens) {
    *solutions = 1;
    co_return;
  }
  long found[16] = {};
  for (int col = 0; col != bench::queens; ++col) {
    if (!b.safe(row, col)) continue;
    bench::board next = b;
    next.column[row] = static_cast<signed char>(col);
    co_await fork(queens(next, row + 1, &found[col]));
  }
  co_await join();
  long total = 0;
  for (const long n : found) total += n;
  *solutions = total;
}

double queens_row(unsigned workers) {
  runq::scheduler s(with(workers));
  long solutions = 0;
  const double begin = bench::now_ns();
  s.run(queens({}, 0, &solutions));
  bench::require(solutions == bench::queens_value, "queens");
  return (bench::now_ns() - begin) / 1e6;
}

double forks_row(unsigned workers) {
  runq::scheduler s(with(workers));
  std::atomic<long> done{0};
  const double begin = bench::now_ns();
  s.run([&]() -> task<> {
    const auto child = [](std::atomic<long>& n) -> task<> {
      n.fetch_add(1, std::memory_order::relaxed);
      co_return;
    };
    for (int i = 0; i != bench::spawns; ++i) co_await fork(child(done));
    co_await join();
  });
  bench::require(done == bench::spawns, "forks");
  return (bench::now_ns() - begin) / bench::spawns;
}

double spawn_row(unsigned workers) {
  runq::scheduler s(with(workers));
  double ns = 0;
  s.run([&]() -> task<> {
    runq::wait_group group;
    group.add(bench::spawns);
    const double begin = bench::now_ns();
    for (int i = 0; i != bench::spawns; ++i) runq::go([&] { group.done(); });
    co_await group.wait();
    ns = (bench::now_ns() - begin) / bench::spawns;
  });
  return ns;
}

double pingpong_row(unsigned workers) {
  runq::scheduler s(with(workers));
  double ns = 0;
  s.run([&]() -> task<> {
    runq::channel<int> there;
    runq::channel<int> back;
    runq::go([&]() -> task<> {
      while (const auto n = co_await there.receive()) co_await back.send(*n + 1);
      back.close();
    });
    const double begin = bench::now_ns();
    for (int i = 0; i != bench::ping_rounds; ++i) {
      co_await there.send(i);
      bench::require(*co_await back.receive() == i + 1, "pingpong");
    }
    ns = (bench::now_ns() - begin) / bench::ping_rounds;
    there.close();
    (void)co_await back.receive();
  });
  return ns;
}

double yield_row(unsigned workers) {
  runq::scheduler s(with(workers));
  double ns = 0;
  s.run([&]() -> task<> {
    runq::wait_group group;
    group.add(bench::yield_tasks);
    const double begin = bench::now_ns();
    for (int i = 0; i != bench::yield_tasks; ++i) {
      runq::go([&]() -> task<> {
        for (int k = 0; k != bench::yields_each; ++k) co_await runq::yield();
        group.done();
      });
    }
    co_await group.wait();
    ns = (bench::now_ns() - begin) / bench::yield_tasks / bench::yields_each;
  });
  return ns;
}

// Resident bytes per task that waits for a channel.
double memory_row(unsigned workers) {
  runq::scheduler s(with(workers));
  double bytes = 0;
  s.run([&]() -> task<> {
    runq::channel<int> never;
    runq::wait_group begun;
    const double before = bench::resident_bytes();
    begun.add(bench::blocked_tasks);
    for (int i = 0; i != bench::blocked_tasks; ++i) {
      runq::go([&]() -> task<> {
        begun.done();
        (void)co_await never.receive();
      });
    }
    co_await begun.wait();
    bytes = (bench::resident_bytes() - before) / bench::blocked_tasks;
    never.close();
  });
  return bytes;
}

// CPU nanoseconds per second while every task waits.
double idle_row(unsigned workers) {
  runq::scheduler s(with(workers));
  const auto keep = s.attach();
  keep.go([] {});
  sleep(1);
  const std::clock_t before = std::clock();
  timespec cpu_before{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu_before);
  sleep(2);
  timespec cpu_after{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu_after);
  (void)before;
  return (static_cast<double>(cpu_after.tv_sec - cpu_before.tv_sec) * 1e9 +
          static_cast<double>(cpu_after.tv_nsec - cpu_before.tv_nsec)) /
         2;
}

}  // namespace

int main(int argc, char** argv) {
  if (const char* const wanted = std::getenv("RUNQ_FORKS")) {
    if (std::strcmp(wanted, "child") == 0) policy = runq::fork_policy::child;
    if (std::strcmp(wanted, "task") == 0) policy = runq::fork_policy::task;
  }
  if (!runq::detail::has_processor_queues) policy = runq::fork_policy::task;
  return bench::run(argc, argv,
                    {{"fib", fib_row},
                     {"skynet", skynet_row},
                     {"queens", queens_row},
                     {"forks", forks_row},
                     {"spawn", spawn_row},
                     {"pingpong", pingpong_row},
                     {"yield", yield_row},
                     {"memory", memory_row},
                     {"idle", idle_row}});
}
