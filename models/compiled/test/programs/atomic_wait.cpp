// SPDX-License-Identifier: MIT
// check: exhaustive
// check -DSILENT: FAIL deadlock
// check -DTWO: passes
// check -DTWO -DONE: FAIL deadlock
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> state{0};
int data;

int main() {
#ifdef TWO
  // Two that wait are woken together.
  std::thread second([] { state.wait(0); });
#endif
  std::thread waiter([] {
    state.wait(0);
    assert(data == 1);
  });
  data = 1;
  state.store(1);
#if defined(TWO) && !defined(ONE)
  state.notify_all();
#elif !defined(SILENT)
  state.notify_one();
#endif
  waiter.join();
#ifdef TWO
  second.join();
#endif
}
