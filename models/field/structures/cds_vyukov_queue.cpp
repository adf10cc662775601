// SPDX-License-Identifier: MIT
// cds::container::VyukovMPMCCycleQueue: Vyukov's ring for many producers and consumers.
#include <optional>

#include <cds/container/vyukov_mpmc_cycle_queue.h>

#include "../field.hpp"

class queue {
 public:
  bool push(int value) { return queue_.enqueue(value); }
  std::optional<int> pop() {
    int value = 0;
    return queue_.dequeue(value) ? std::optional<int>(value) : std::nullopt;
  }
  std::set<int> all() { return runq::field::take_all(*this); }

 private:
  cds::container::VyukovMPMCCycleQueue<int> queue_{4};
};

RUNQ_FIELD(runq::field::push_and_pop_to_the_end<queue>)
