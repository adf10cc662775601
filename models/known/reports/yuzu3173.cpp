// SPDX-License-Identifier: MIT
// One thread pushes, the other one waits for the element.
#include <cassert>
#include <thread>

#include "common/threadsafe_queue.h"

int main() {
  Common::SPSCQueue<int> queue;
  std::thread producer([&queue] { queue.Push(1); });
  assert(queue.PopWait() == 1);
  producer.join();
}
