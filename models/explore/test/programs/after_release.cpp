// SPDX-License-Identifier: MIT
// What a thread writes after a release is not part of it.
// check -DAFTER=0: passes
// check -DAFTER=1: FAIL data race
#include <atomic>
#include <thread>

std::atomic<bool> ready{false};
int data = 0;

int main() {
  std::thread writer([] {
    if (AFTER == 0) data = 1;
    ready.store(true, std::memory_order::release);
    if (AFTER == 1) data = 1;
  });
  while (!ready.load(std::memory_order::acquire)) std::this_thread::yield();
  const int seen = data;
  writer.join();
  return seen > 1 ? 1 : 0;
}
