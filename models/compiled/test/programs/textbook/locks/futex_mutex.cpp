// SPDX-License-Identifier: MIT
// A mutex that sleeps (Drepper, "Futexes are tricky"): 0 is free, 1 held, 2 held with sleepers. Unlock wakes a thread
// only if it finds a 2. So a thread that goes to sleep, and one that was woken and may have others behind it, must
// leave a 2, never a 1.
// check: exhaustive
// check -DWRONG: FAIL deadlock
#include <atomic>
#include <cassert>
#include <thread>

#ifdef WRONG
constexpr int held_with_sleepers = 1;
#else
constexpr int held_with_sleepers = 2;
#endif

std::atomic<int> state{0};
int data = 0;

void lock() {
  int free = 0;
  if (state.compare_exchange_strong(free, 1, std::memory_order::acquire)) return;
  while (state.exchange(held_with_sleepers, std::memory_order::acquire) != 0) state.wait(held_with_sleepers);
}
void unlock() {
  if (state.exchange(0, std::memory_order::release) == 2) state.notify_one();
}

void work() {
  lock();
  ++data;
  unlock();
}

int main() {
  std::thread a(work);
  std::thread b(work);
  a.join();
  b.join();
  assert(data == 2);
}
