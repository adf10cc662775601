// SPDX-License-Identifier: MIT
// Failures that need what RC11 allows and C++20 forbids, by the total order of the seq_cst operations, each with a twin
// that both allow.
#include <atomic>
#include <cassert>
#include <thread>

#ifndef ORDER
#define ORDER seq_cst
#endif
constexpr auto relaxed = std::memory_order::relaxed;
constexpr auto order = std::memory_order::ORDER;
std::atomic<int> x, y, z;

int main() {
  int first = 0;
  int second = 0;
  int third = 0;
#ifdef TWO_STORES
  // T2's first store comes before T1's load of y, because T1 acquires T2's second one.
  std::thread reader([&] {
    first = x.load(std::memory_order::acquire);
    second = y.load();
  });
  std::thread writer([] {
    x.store(1, order);
    x.store(2);
  });
  std::thread other([&] {
    y.store(1);
    third = x.load();
  });
  reader.join();
  writer.join();
  other.join();
  assert(!(first == 2 && second == 0 && third == 0));
#else
  // The fence comes before T3's load of z, because it happens before the store that this load reads.
  std::thread writer([] {
    y.store(1, relaxed);
    std::atomic_thread_fence(order);
    x.store(1, std::memory_order::release);
  });
  std::thread between([] {
    if (x.load(std::memory_order::acquire) == 1) z.store(1, relaxed);
  });
  std::thread reader([&] {
    first = z.load();
    second = y.load();
  });
  writer.join();
  between.join();
  reader.join();
  assert(!(first == 1 && second == 0));
  static_cast<void>(third);
#endif
}
