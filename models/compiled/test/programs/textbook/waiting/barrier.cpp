// SPDX-License-Identifier: MIT
// A barrier that is used again and again: the last thread to arrive opens it for all. It must reset the count before it
// opens: a fast thread arrives at the next barrier at once, and a late reset would forget that thread.
// check: exhaustive
// check -DWRONG: FAIL deadlock
// check -DWRONG_ORDER: FAIL data race
#include <atomic>
#include <cassert>
#include <thread>

#ifdef WRONG_ORDER
constexpr auto arrive = std::memory_order::relaxed;
#else
constexpr auto arrive = std::memory_order::acq_rel;
#endif

std::atomic<int> arrived{0}, phase{0};
int cells[2];

void wait_for_both() {
  const int mine = phase.load(std::memory_order::relaxed);
  if (arrived.fetch_add(1, arrive) != 1) {
    while (phase.load(std::memory_order::acquire) == mine) std::this_thread::yield();
    return;
  }
#ifdef WRONG
  phase.store(mine + 1, std::memory_order::release);
  arrived.store(0, std::memory_order::relaxed);
#else
  arrived.store(0, std::memory_order::relaxed);
  phase.store(mine + 1, std::memory_order::release);
#endif
}

void work(int me) {
  cells[me] = 1;
  wait_for_both();
  assert(cells[1 - me] == 1);
  wait_for_both();
  cells[me] = 2;
}

int main() {
  std::thread a(work, 0);
  std::thread b(work, 1);
  a.join();
  b.join();
}
