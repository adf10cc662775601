// SPDX-License-Identifier: MIT
// A tree of 1,111,111 tasks adds up a million numbers. Each task forks ten others, down to one number per task, and
// adds up the results of its children.
#include <chrono>
#include <cstdio>

#include <runq/runq.hpp>

runq::task<> skynet(long first, long leaves, long* sum) {
  if (leaves == 1) {
    *sum = first;
    co_return;
  }
  long parts[10];
  for (int i = 0; i != 10; ++i) {
    co_await runq::fork(skynet(first + i * (leaves / 10), leaves / 10, &parts[i]));
  }
  co_await runq::join();
  *sum = 0;
  for (const long part : parts) *sum += part;
}

int main() {
  long sum = 0;
  const auto begin = std::chrono::steady_clock::now();
  runq::run(skynet(0, 1'000'000, &sum));
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  std::printf("the sum of 0 ... 999999 is %ld, found by 1111111 tasks in %.1f ms\n", sum, took.count());
  return sum == 499'999'500'000 ? 0 : 1;
}
