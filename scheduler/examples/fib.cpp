// SPDX-License-Identifier: MIT
// The same recursive program with each of the three fork policies. continuation: the child runs at once, and the rest
// of the caller can be stolen. child: the caller goes on, and the child can be stolen. task: the child becomes a task,
// as a goroutine does.
#include <chrono>
#include <cstdio>

#include <runq/runq.hpp>

runq::task<long> fib(int n) {
  if (n < 2) co_return n;
  auto a = co_await runq::fork(fib(n - 1));
  const long b = co_await fib(n - 2);
  co_await runq::join();
  co_return a.get() + b;
}

int main() {
  constexpr int n = 24;
  const struct {
    const char* name;
    runq::fork_policy policy;
  } modes[] = {{"continuation stealing", runq::fork_policy::continuation},
               {"child stealing", runq::fork_policy::child},
               {"a task per child", runq::fork_policy::task}};
  for (const auto& mode : modes) {
    runq::scheduler scheduler({.forks = mode.policy});
    const auto begin = std::chrono::steady_clock::now();
    const long value = scheduler.run(fib(n));
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    std::printf("%-21s  fib(%d) = %ld  %7.1f ms  %u processors, %llu steals\n", mode.name, n, value, took.count(),
                scheduler.procs(), static_cast<unsigned long long>(scheduler.stats().steals));
    if (value != 46368) return 1;
  }
}
