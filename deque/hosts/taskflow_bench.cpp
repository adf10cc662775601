// SPDX-License-Identifier: MIT
// taskflow with its own queues, or, compiled with `-include taskflow_wsq.hpp`, with ours. For each program
// it prints a line "PROGRAM NANOSECONDS", the time of one task. hosts.py compares the two.
#include <atomic>
#include <cstddef>
#include <cstdlib>

#include <taskflow/taskflow.hpp>

#include "host_bench.hpp"

namespace {

constexpr std::size_t workers = 2;
constexpr std::size_t tasks = 1U << 18U;

void check(bool ok) {
  if (!ok) std::abort();
}

// Fork and join: the naive Fibonacci numbers. Returns the number.
std::size_t fibonacci(tf::Executor& executor, std::size_t n) {
  if (n < 2) return n;
  std::size_t one = 0;
  tf::TaskGroup forks = executor.task_group();
  forks.silent_async([&] { one = fibonacci(executor, n - 1); });
  const std::size_t other = fibonacci(executor, n - 2);
  forks.corun();
  return one + other;
}
std::size_t fork_join(tf::Executor& executor) {
  check(executor.async([&] { return fibonacci(executor, 25); }).get() == 75'025);
  return 121'392;  // forks
}

// A graph of tasks that do not depend on each other, eight times.
std::size_t graph(tf::Executor& executor) {
  constexpr std::size_t times = 8;
  tf::Taskflow flow;
  std::atomic<std::size_t> ran{0};
  for (std::size_t i = 0; i != tasks / times; ++i) {
    flow.emplace([&] { ran.fetch_add(1, std::memory_order::relaxed); });
  }
  executor.run_n(flow, times).wait();
  check(ran.load() == tasks);
  return tasks;
}

// One thread outside starts all tasks.
std::size_t from_outside(tf::Executor& executor) {
  std::atomic<std::size_t> ran{0};
  for (std::size_t i = 0; i != tasks; ++i) {
    executor.silent_async([&] { ran.fetch_add(1, std::memory_order::relaxed); });
  }
  executor.wait_for_all();
  check(ran.load() == tasks);
  return tasks;
}

void measure(const char* name, std::size_t (*program)(tf::Executor&)) {
  tf::Executor executor(workers);
  runq_hosts::measure(name, [&] { return program(executor); });
}

}  // namespace

int main() {
  measure("fork_join", fork_join);
  measure("graph", graph);
  measure("from_outside", from_outside);
}
