// SPDX-License-Identifier: MIT
// One thread pushes an element, the other one pops it.
#include <cassert>
#include <new>
#include <thread>

#include "LockFreeQueueCpp11.h"

int main() {
  LockFreeQueueCpp11<int> queue(2);
  std::thread producer([&queue] { queue.push(1); });
  int value = 0;
  if (queue.pop(value)) assert(value == 1);
  producer.join();
}
