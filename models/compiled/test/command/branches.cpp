// SPDX-License-Identifier: MIT
// A queue of one, which the test never finds full, unless FULL is defined. The loop goes both ways.
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> slot{0};

bool push(int value) {
  const bool is_full = slot.load(std::memory_order::relaxed) != 0;
  if (is_full) return false;  // full
  slot.store(value, std::memory_order::release);
  return true;
}

int main() {
  std::thread other([] {
    for (int i = 1; i != 3; ++i) {  // loop
      const int value = slot.load(std::memory_order::acquire);
      if (value == 1) slot.store(0, std::memory_order::release);  // found
    }
  });
  const bool done = push(1);
  assert(done);
#ifdef FULL
  push(2);
#endif
  other.join();
}
