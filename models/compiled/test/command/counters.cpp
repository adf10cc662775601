// SPDX-License-Identifier: MIT
// Three threads add OPERATIONS times each to one variable: (3 n)! / (n!)³ executions, one for each order of the
// additions.
#include <atomic>
#include <cassert>
#include <thread>

#ifndef OPERATIONS
#define OPERATIONS 3
#endif

std::atomic<int> counter{0};

void add() {
  for (int i = 0; i != OPERATIONS; ++i) {
    // Seeded: wrong in one of the orders.
    const int before = counter.fetch_add(1, std::memory_order::relaxed);
#ifdef WRONG
    assert(i != 0 || before != 3 * OPERATIONS - OPERATIONS);
#else
    static_cast<void>(before);
#endif
  }
}

int main() {
  std::thread a(add);
  std::thread b(add);
  std::thread c(add);
  a.join();
  b.join();
  c.join();
  assert(counter.load() == 3 * OPERATIONS);
}
