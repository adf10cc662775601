// SPDX-License-Identifier: MIT
// Two threads add by a loop with a weak compare-exchange, which may fail for no reason. WRONG: one that does not loop.
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> counter{0};

void add() {
  int seen = 0;
  while (!counter.compare_exchange_weak(seen, seen + 1)) continue;
}

int main() {
#ifdef WRONG
  int seen = 0;
  if (!counter.compare_exchange_weak(seen, 1)) assert(seen != 0);
#else
  std::thread other(add);
  add();
  other.join();
  assert(counter.load() == 2);
#endif
}
