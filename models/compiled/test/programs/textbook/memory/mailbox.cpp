// SPDX-License-Identifier: MIT
// A box that holds one letter. A thread that takes it out by an exchange is the only one that has it. If it looks first
// and empties the box afterwards, another thread may have taken the letter, too, and both throw it away.
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
