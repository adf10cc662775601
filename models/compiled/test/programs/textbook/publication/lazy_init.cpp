// SPDX-License-Identifier: MIT
// The first thread that needs an object makes it, without a lock. Two threads may both make one; compare-exchange lets
// only one in. The other thread must use that one, and delete its own: otherwise its own leaks.
// check: exhaustive, 4 executions
// check -DWRONG: FAIL leak
// check -DWRONG_ORDER: FAIL unpublished allocation
#include <atomic>
#include <cassert>
#include <thread>

#ifdef WRONG_ORDER
constexpr auto publish = std::memory_order::acquire;
#else
constexpr auto publish = std::memory_order::acq_rel;
#endif

std::atomic<int*> only{nullptr};

int& get() {
  int* made = only.load(std::memory_order::acquire);
  if (made != nullptr) return *made;
  int* const mine = new int(7);
  if (only.compare_exchange_strong(made, mine, publish, std::memory_order::acquire)) return *mine;
#ifndef WRONG
  delete mine;
#endif
  return *made;
}

int main() {
  std::thread a([] { assert(get() == 7); });
  std::thread b([] { assert(get() == 7); });
  a.join();
  b.join();
}
