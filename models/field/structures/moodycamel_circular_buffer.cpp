// SPDX-License-Identifier: MIT
// moodycamel::BlockingReaderWriterCircularBuffer, whose operations here do not wait: a ring and two semaphores.
#include <optional>

#include <readerwriterqueue/readerwritercircularbuffer.h>

#include "../field.hpp"

class queue {
 public:
  bool push(int value) { return queue_.try_enqueue(value); }
  std::optional<int> pop() {
    int value = 0;
    return queue_.try_dequeue(value) ? std::optional<int>(value) : std::nullopt;
  }

 private:
  moodycamel::BlockingReaderWriterCircularBuffer<int> queue_{4};
};

static auto make_test() { return runq::field::producer_and_consumer<queue>(4); }

RUNQ_FIELD(make_test)
