// SPDX-License-Identifier: MIT
// Two consumers empty a block, which the producer uses again.
#include <cassert>
#include <thread>

#include "concurrentqueue.h"

struct small : moodycamel::ConcurrentQueueDefaultTraits {
  static const size_t BLOCK_SIZE = 2;
  static const size_t EXPLICIT_BLOCK_EMPTY_COUNTER_THRESHOLD = 2;
  static const size_t INITIAL_IMPLICIT_PRODUCER_HASH_SIZE = 1;
  static const size_t IMPLICIT_INITIAL_INDEX_SIZE = 2;
};

int main() {
  moodycamel::ConcurrentQueue<int, small> queue(2);
  queue.enqueue(1);
  queue.enqueue(2);
  const auto consume = [&queue] {
    int value = 0;
    if (queue.try_dequeue(value)) assert(value != 0);
  };
  std::thread first(consume), second(consume);
  queue.enqueue(3);
  queue.enqueue(4);
  first.join();
  second.join();
}
