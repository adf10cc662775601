// SPDX-License-Identifier: MIT
// A failure that needs four changes of threads, with another one on the way that needs three: made smaller, the first
// one stays the first one.
//
// check: FAIL assertion
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> step{0};

int main() {
  std::thread other([] {
    step.store(1, std::memory_order::relaxed);
    step.store(2, std::memory_order::relaxed);
  });
  const bool came_first = step.load(std::memory_order::relaxed) == 1;
  const bool came_again = came_first && step.load(std::memory_order::relaxed) == 2;
  assert(!came_again);
  assert(!came_first);
  other.join();
}
