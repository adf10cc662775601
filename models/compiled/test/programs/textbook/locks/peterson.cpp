// SPDX-License-Identifier: MIT
// Peterson's lock for two: say that you want in, give the other precedence, then look. Two places need a full fence:
// after the last store, so that the look is not older than it; and between the two stores, so that the thread that gave
// precedence last sees that the other wants in. An exchange that reads whom it overtakes replaces the second fence.
// check: exhaustive
// check -DEXCHANGE: exhaustive
// check -DWRONG: FAIL data race
// check -DONLY_BETWEEN: FAIL data race
// check -DONLY_AFTER: FAIL data race
#include <atomic>
#include <thread>

constexpr auto relaxed = std::memory_order::relaxed;
#if defined(WRONG) || defined(ONLY_AFTER) || defined(EXCHANGE)
void fence_between() {}
#else
void fence_between() { std::atomic_thread_fence(std::memory_order::seq_cst); }
#endif
#if defined(WRONG) || defined(ONLY_BETWEEN)
void fence_after() {}
#else
void fence_after() { std::atomic_thread_fence(std::memory_order::seq_cst); }
#endif

std::atomic<bool> wants[2];
std::atomic<int> precedence{0};
int data = 0;

void work(int me) {
  const int other = 1 - me;
  wants[me].store(true, relaxed);
  fence_between();
#ifdef EXCHANGE
  precedence.exchange(other, std::memory_order::acq_rel);
#else
  precedence.store(other, relaxed);
#endif
  fence_after();
  while (wants[other].load(std::memory_order::acquire) && precedence.load(std::memory_order::acquire) == other) {
    std::this_thread::yield();
  }
  ++data;
  wants[me].store(false, std::memory_order::release);
}

int main() {
  std::thread a(work, 0);
  std::thread b(work, 1);
  a.join();
  b.join();
}
