// SPDX-License-Identifier: MIT
// tbb::queuing_mutex, an MCS lock.
#include <oneapi/tbb/queuing_mutex.h>

#include "../field.hpp"

/// The node is on the caller's stack.
class lock {
 public:
  int add() {
    const tbb::queuing_mutex::scoped_lock holds(mutex_);
    return value_++;
  }
  std::optional<int> try_add() {
    tbb::queuing_mutex::scoped_lock holds;
    if (!holds.try_acquire(mutex_)) return {};
    return value_++;
  }

 private:
  tbb::queuing_mutex mutex_;
  int value_ = 0;
};

RUNQ_FIELD(runq::field::add_and_try_add<lock>)
