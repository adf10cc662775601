// SPDX-License-Identifier: MIT
// TooManyCooks with its own deque, or, compiled with `-include toomanycooks_deque.hpp`, with ours. For each
// program it prints a line "PROGRAM NANOSECONDS", the time of one task. hosts.py compares the two.
#include <cstddef>
#include <cstdlib>
#include <vector>

#include <tmc/all_headers.hpp>

#include "host_bench.hpp"

namespace {

constexpr std::size_t workers = 2;

// Fork and join: the naive Fibonacci numbers.
tmc::task<std::size_t> fibonacci(std::size_t n) {
  if (n < 2) co_return n;
  const auto [one, other] = co_await tmc::spawn_tuple(fibonacci(n - 1), fibonacci(n - 2));
  co_return one + other;
}
std::size_t fork_join(tmc::ex_cpu& executor) {
  if (tmc::post_waitable(executor, fibonacci(27)).get() != 196'418) std::abort();
  return 317'810;  // pairs of tasks
}

// Batches of tasks that do nothing, posted from within the executor.
tmc::task<void> nothing() { co_return; }
tmc::task<void> all_batches(std::size_t batches, std::size_t size) {
  for (std::size_t i = 0; i != batches; ++i) {
    std::vector<tmc::task<void>> batch;
    for (std::size_t n = 0; n != size; ++n) batch.push_back(nothing());
    co_await tmc::spawn_many(batch.begin(), batch.end());
  }
}
std::size_t batches(tmc::ex_cpu& executor) {
  constexpr std::size_t number = 2'000;
  constexpr std::size_t size = 100;
  tmc::post_waitable(executor, all_batches(number, size)).get();
  return number * size;
}

void measure(const char* name, std::size_t (*program)(tmc::ex_cpu&)) {
  tmc::ex_cpu executor;
  executor.set_thread_count(workers).init();
  runq_hosts::measure(name, [&] { return program(executor); });
}

}  // namespace

int main() {
  measure("fork_join", fork_join);
  measure("batches", batches);
}
