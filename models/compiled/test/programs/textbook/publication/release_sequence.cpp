// SPDX-License-Identifier: MIT
// A release sequence: a third thread changes the flag between the writer's release and the reader's acquire. A
// read-modify-write, even a relaxed one, continues the writer's release sequence. A plain relaxed store ends it.
// check: exhaustive, 5 executions
// check -DWRONG: FAIL data race
#include <atomic>
#include <cassert>
#include <thread>

int data = 0;
std::atomic<int> state{0};  // 1: written; 2: written and approved

void approve() {
#ifdef WRONG
  if (state.load(std::memory_order::relaxed) == 1) state.store(2, std::memory_order::relaxed);
#else
  int written = 1;
  state.compare_exchange_strong(written, 2, std::memory_order::relaxed);
#endif
}

int main() {
  std::thread writer([] {
    data = 42;
    state.store(1, std::memory_order::release);
  });
  std::thread reviewer(approve);
  if (state.load(std::memory_order::acquire) == 2) assert(data == 42);
  writer.join();
  reviewer.join();
}
