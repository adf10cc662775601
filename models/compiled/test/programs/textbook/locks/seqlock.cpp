// SPDX-License-Identifier: MIT
// A seqlock: readers look at a number before and after, and try again if a writer came in between (Boehm 2012).
// check: exhaustive, 14 executions
// check -DWRONG: FAIL assertion fails: a == b
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<unsigned> number{0};
std::atomic<int> first{0}, second{0};
constexpr auto relaxed = std::memory_order::relaxed;

int main() {
  std::thread writer([] {
    number.store(1, relaxed);
    std::atomic_thread_fence(std::memory_order::release);
    first.store(1, relaxed);
    second.store(1, relaxed);
    number.store(2, std::memory_order::release);
  });
  const unsigned before = number.load(std::memory_order::acquire);
  const int a = first.load(relaxed);
  const int b = second.load(relaxed);
#ifndef WRONG
  std::atomic_thread_fence(std::memory_order::acquire);
#endif
  if (before % 2 == 0 && number.load(relaxed) == before) assert(a == b);
  writer.join();
}
