// SPDX-License-Identifier: MIT
// Two seq_cst stores beside each other, and a thread that acquires the second one. C++20 orders the first store before
// what that thread does next, and so forbids one of these executions; RC11 does not. With other variables between the
// stores and the acquire, both forbid it.
// check: exhaustive, 18 executions
// check -DASSERTED: FAIL check failed
// check -DASSERTED -DOTHER_VARIABLE: exhaustive
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> x, y, z;

int main() {
  int acquired = 0;
  int read_y = 0;
  int read_x = 0;
  std::thread reader([&] {
#ifdef OTHER_VARIABLE
    acquired = 2 * z.load(std::memory_order::acquire);
#else
    acquired = x.load(std::memory_order::acquire);
#endif
    read_y = y.load();
  });
  std::thread writer([] {
    x.store(1);
#ifdef OTHER_VARIABLE
    z.store(1);
#else
    x.store(2);
#endif
  });
  std::thread other([&] {
    y.store(1);
    read_x = x.load();
  });
  reader.join();
  writer.join();
  other.join();
#ifdef ASSERTED
  assert(!(acquired == 2 && read_y == 0 && read_x == 0));
#else
  static_cast<void>(acquired + read_y + read_x);
#endif
}
