// SPDX-License-Identifier: MIT
// stdexec's static_thread_pool with its own queue, or, compiled with `-include stdexec_lifo_queue.hpp`, with ours.
// For each program it prints a line "PROGRAM NANOSECONDS", the time of one task. hosts.py compares the two.
#include <atomic>
#include <cstddef>
#include <cstdlib>

#include <exec/start_detached.hpp>
#include <exec/static_thread_pool.hpp>
#include <stdexec/execution.hpp>

#include "host_bench.hpp"

namespace {

constexpr std::size_t workers = 2;
constexpr std::size_t leaves = 1U << 17U;

// A program counts down what is still to be run; main waits for zero.
struct program {
  decltype(std::declval<exec::static_thread_pool&>().get_scheduler()) scheduler;
  std::atomic<std::size_t> left;

  void start(auto task) { exec::start_detached(stdexec::schedule(scheduler) | stdexec::then(task)); }
  void ended() {
    if (left.fetch_sub(1) == 1) left.notify_one();
  }
  void wait() {
    for (std::size_t n = left.load(); n != 0; n = left.load()) left.wait(n);
  }
};

// A task of a binary tree: it starts two, each with half of its leaves.
struct node {
  program* in;
  std::size_t leaves;
  void operator()() const noexcept {
    if (leaves == 1) return in->ended();
    in->start(node{in, leaves / 2});
    in->start(node{in, leaves - leaves / 2});
  }
};

// Returns how many tasks there were.
std::size_t tree(program& p) {
  p.start(node{&p, leaves});
  p.wait();
  return 2 * leaves - 1;
}

// One thread outside starts all tasks.
std::size_t from_outside(program& p) {
  for (std::size_t i = 0; i != leaves; ++i) p.start([&p]() noexcept { p.ended(); });
  p.wait();
  return leaves;
}

void measure(const char* name, std::size_t (*run)(program&)) {
  exec::static_thread_pool pool(workers);
  program p{pool.get_scheduler(), leaves};
  runq_hosts::measure(name, [&] { return run(p); });
}

}  // namespace

int main() {
  measure("tree", tree);
  measure("from_outside", from_outside);
}
