// SPDX-License-Identifier: MIT
// Dekker's entry: each thread says that it wants in, then looks at the other. Both may enter if a fence is missing.
// check: exhaustive, 3 executions
// check -DWRONG: FAIL data race
// check -DONE_FENCE: FAIL data race
// check -DTOO_EARLY: FAIL data race
#include <atomic>
#include <thread>

std::atomic<bool> wants[2];
int data;

void enter(int me) {
#ifdef TOO_EARLY
  std::atomic_thread_fence(std::memory_order::seq_cst);
#endif
  wants[me].store(true, std::memory_order::relaxed);
#ifdef WRONG
  std::atomic_thread_fence(std::memory_order::acq_rel);
#elif defined(ONE_FENCE)
  if (me == 0) std::atomic_thread_fence(std::memory_order::seq_cst);
#elif !defined(TOO_EARLY)
  std::atomic_thread_fence(std::memory_order::seq_cst);
#endif
  if (!wants[1 - me].load(std::memory_order::relaxed)) ++data;
}

int main() {
  std::thread a(enter, 0);
  std::thread b(enter, 1);
  a.join();
  b.join();
}
