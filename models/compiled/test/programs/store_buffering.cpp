// SPDX-License-Identifier: MIT
// check: exhaustive, 3 executions
// check -DORDER=release: FAIL check failed
// check -DORDER=relaxed: FAIL check failed
#include <atomic>
#include <cassert>
#include <thread>

#ifndef ORDER
#define ORDER seq_cst
#endif

std::atomic<int> x, y;

int main() {
  int a = 0;
  int b = 0;
  std::thread one([&] {
    x.store(1, std::memory_order::ORDER);
    a = y.load();
  });
  std::thread two([&] {
    y.store(1, std::memory_order::ORDER);
    b = x.load();
  });
  one.join();
  two.join();
  assert(a == 1 || b == 1);
}
