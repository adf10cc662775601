// SPDX-License-Identifier: MIT
// Boost.Fiber with its own work_stealing (RUNQ_HOST_OWN_QUEUE), or with ours. For each program it prints a line
// "PROGRAM NANOSECONDS", the time of one step; then "memory KILOBYTES", the most that was resident. hosts.py compares
// the two.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include <boost/fiber/algo/work_stealing.hpp>
#include <boost/fiber/all.hpp>
#include <sys/resource.h>

#include "fiber_work_stealing.hpp"
#include "host_bench.hpp"

namespace {

namespace fibers = boost::fibers;
constexpr std::size_t threads = 2;

void check(bool ok) {
  if (!ok) std::abort();
}

template <class Body>
fibers::fiber start(Body body) {
  return fibers::fiber(fibers::launch::post, std::allocator_arg, boost::context::fixedsize_stack{16 * 1024}, body);
}

// A tree of 10^5 fibers that wait for their ten children through channels.
constexpr std::size_t leaves = 100'000;
std::size_t sum_of_leaves(std::size_t first, std::size_t n) {
  if (n == 1) return first;
  fibers::buffered_channel<std::size_t> sums(16);
  for (std::size_t i = 0; i != 10; ++i) {
    start([&sums, from = first + i * (n / 10), n] { sums.push(sum_of_leaves(from, n / 10)); }).detach();
  }
  std::size_t sum = 0;
  for (std::size_t i = 0; i != 10; ++i) sum += sums.value_pop();
  return sum;
}
std::size_t skynet() {
  check(sum_of_leaves(0, leaves) == leaves * (leaves - 1) / 2);
  return leaves;
}

// 64 fibers that yield.
std::size_t yields() {
  constexpr std::size_t n = 64;
  constexpr std::size_t each = 10'000;
  std::vector<fibers::fiber> all;
  for (std::size_t i = 0; i != n; ++i) {
    all.push_back(start([] {
      for (std::size_t k = 0; k != each; ++k) boost::this_fiber::yield();
    }));
  }
  for (fibers::fiber& f : all) f.join();
  return n * each;
}

}  // namespace

int main() {
#ifndef RUNQ_HOST_OWN_QUEUE
  runq_hosts::fiber_workers workers(threads);
#endif
  std::mutex mutex;
  fibers::condition_variable_any ended;
  bool end = false;
  const auto thread = [&](std::size_t self) {
#ifdef RUNQ_HOST_OWN_QUEUE
    fibers::use_scheduling_algorithm<fibers::algo::work_stealing>(threads);
#else
    fibers::use_scheduling_algorithm<runq_hosts::fiber_work_stealing>(workers, self);
#endif
    std::unique_lock lock(mutex);
    if (self != 0) return ended.wait(lock, [&] { return end; });
    lock.unlock();
    runq_hosts::measure("skynet", skynet);
    runq_hosts::measure("yields", yields);
    lock.lock();
    end = true;
    ended.notify_all();
  };
  {
    std::vector<std::jthread> all;
    for (std::size_t i = 0; i != threads; ++i) all.emplace_back(thread, i);
  }
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  std::printf("memory %ld\n", used.ru_maxrss);
}
