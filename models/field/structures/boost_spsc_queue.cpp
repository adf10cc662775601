// SPDX-License-Identifier: MIT
// boost::lockfree::spsc_queue: a ring with one producer and one consumer.
#include <optional>

#include <boost/lockfree/spsc_queue.hpp>

#include "../field.hpp"

class queue {
 public:
  bool push(int value) { return queue_.push(value); }
  std::optional<int> pop() {
    int value = 0;
    return queue_.pop(value) ? std::optional<int>(value) : std::nullopt;
  }

 private:
  boost::lockfree::spsc_queue<int> queue_{4};
};

static auto make_test() { return runq::field::producer_and_consumer<queue>(4); }

RUNQ_FIELD(make_test)
