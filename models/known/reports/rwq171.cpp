// SPDX-License-Identifier: MIT
// The producer makes the queue larger while the consumer asks for its size and takes an element.
#include <cassert>
#include <thread>

#include "readerwriterqueue.h"

int main() {
  moodycamel::ReaderWriterQueue<int, 2> queue(1);
  queue.enqueue(1);
  std::thread producer([&queue] { queue.enqueue(2); });
  (void)queue.size_approx();
  int value = 0;
  if (queue.try_dequeue(value)) assert(value == 1);
  producer.join();
}
