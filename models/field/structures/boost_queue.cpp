// SPDX-License-Identifier: MIT
// boost::lockfree::queue: Michael and Scott's queue, whose nodes come from a free list.
#include <optional>

#include <boost/lockfree/queue.hpp>

#include "../field.hpp"

class queue {
 public:
  bool push(int value) { return queue_.push(value); }
  std::optional<int> pop() {
    int value = 0;
    return queue_.pop(value) ? std::optional<int>(value) : std::nullopt;
  }

 private:
  boost::lockfree::queue<int> queue_{2};
};

RUNQ_FIELD(runq::field::push_and_pop<queue>)
