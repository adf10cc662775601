// SPDX-License-Identifier: MIT
// A spin lock of one flag: test-and-set takes it, and a thread that fails looks until it is free. Taking it acquires,
// giving it back releases; with either relaxed the lock keeps threads apart, but does not order what they write.
// check: exhaustive
// check -DWRONG: FAIL data race
// check -DWRONG_TAKING: FAIL data race
#include <atomic>
#include <cassert>
#include <thread>

#ifdef WRONG
constexpr auto giving_back = std::memory_order::relaxed;
#else
constexpr auto giving_back = std::memory_order::release;
#endif
#ifdef WRONG_TAKING
constexpr auto taking = std::memory_order::relaxed;
#else
constexpr auto taking = std::memory_order::acquire;
#endif

std::atomic_flag held;
int data = 0;

void work() {
  while (held.test_and_set(taking)) {
    while (held.test(std::memory_order::relaxed)) std::this_thread::yield();
  }
  ++data;
  held.clear(giving_back);
}

int main() {
  std::thread a(work);
  std::thread b(work);
  a.join();
  b.join();
  assert(data == 2);
}
