// SPDX-License-Identifier: MIT
// cds::container::WeakRingBuffer: a ring with one producer and one consumer.
#include <optional>

#include <cds/container/weak_ringbuffer.h>

#include "../field.hpp"

class queue {
 public:
  bool push(int value) { return queue_.push(value); }
  std::optional<int> pop() {
    int value = 0;
    return queue_.pop(value) ? std::optional<int>(value) : std::nullopt;
  }

 private:
  cds::container::WeakRingBuffer<int> queue_{4};
};

static auto make_test() { return runq::field::producer_and_consumer<queue>(4); }

RUNQ_FIELD(make_test)
