// SPDX-License-Identifier: MIT
// check: exhaustive
// check -DSILENT: FAIL deadlock
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> state{0};
int data;

int main() {
  std::thread waiter([] {
    state.wait(0);
    assert(data == 1);
  });
  data = 1;
  state.store(1);
#ifndef SILENT
  state.notify_one();
#endif
  waiter.join();
}
