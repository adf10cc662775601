// SPDX-License-Identifier: MIT
// A lost update: atomic, and still wrong. Between the load and the store of one thread the other thread does both, and
// what it added is lost. A read-modify-write (`fetch_add`, `exchange`, compare-exchange) reads and writes in one step,
// so it loses nothing.
// check: exhaustive, 2 executions
// check -DWRONG: FAIL assertion fails: visits == 2
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> visits{0};

void visit() {
#ifdef WRONG
  visits.store(visits.load() + 1);
#else
  visits.fetch_add(1);
#endif
}

int main() {
  std::thread a(visit);
  std::thread b(visit);
  a.join();
  b.join();
  assert(visits == 2);
}
