// SPDX-License-Identifier: MIT
// A box that holds one letter. Who takes it out by an exchange is alone with it. Who looks first and empties the box
// afterwards may hold a letter that another has taken, too, and both throw it away.
// check: exhaustive, 2 executions
// check -DWRONG: FAIL double free
#include <atomic>
#include <thread>

std::atomic<int*> box{nullptr};

void take_letter() {
#ifdef WRONG
  int* const letter = box.load(std::memory_order::acquire);
  box.store(nullptr, std::memory_order::relaxed);
#else
  int* const letter = box.exchange(nullptr, std::memory_order::acquire);
#endif
  delete letter;
}

int main() {
  box.store(new int(42), std::memory_order::release);
  std::thread a(take_letter);
  std::thread b(take_letter);
  a.join();
  b.join();
}
