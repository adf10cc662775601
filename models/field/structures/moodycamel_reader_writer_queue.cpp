// SPDX-License-Identifier: MIT
// moodycamel::ReaderWriterQueue: blocks of a ring, one producer and one consumer; a full block is followed by a new
// one.
#include <optional>

#include <readerwriterqueue/readerwriterqueue.h>

#include "../field.hpp"

class queue {
 public:
  bool push(int value) { return queue_.enqueue(value); }
  std::optional<int> pop() {
    int value = 0;
    return queue_.try_dequeue(value) ? std::optional<int>(value) : std::nullopt;
  }

 private:
  moodycamel::ReaderWriterQueue<int, 2> queue_{1};
};

static auto make_test() { return runq::field::producer_and_consumer<queue>(3); }

RUNQ_FIELD(make_test)
