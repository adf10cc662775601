// SPDX-License-Identifier: MIT
// One element, two consumers: whoever pops something has popped it.
#include <algorithm>
#include <cassert>
#include <thread>

#include "common/lockfree_queue.h"

LockfreeBatchMPMCRingQueue<int, 2> queue;

void pop() {
  int value = 0;
  if (queue.pop(value)) assert(value == 1);
}

int main() {
  std::thread consumer(pop);
  queue.push(1);
  pop();
  consumer.join();
}
