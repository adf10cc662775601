// SPDX-License-Identifier: MIT
// Two threads increment a counter under the spin lock.
#include <thread>

#include "neug/utils/spinlock.h"

int main() {
  neug::SpinLock lock;
  int counter = 0;
  const auto increment = [&] {
    lock.lock();
    ++counter;
    lock.unlock();
  };
  std::thread other(increment);
  increment();
  other.join();
  return counter == 2 ? 0 : 1;
}
