// SPDX-License-Identifier: MIT
// Structures of libcds: one of them is compiled, which the macro FIELD_<name> chooses.

#ifdef FIELD_cds_vyukov_queue
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
#endif

#ifdef FIELD_cds_weak_ring_buffer
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
#endif

#ifdef FIELD_cds_spin_lock
// cds::sync::spin: a test-and-set lock of libcds.
#include <cds/sync/spinlock.h>

#include "../field.hpp"

using lock = runq::field::guarded<cds::sync::spin>;

RUNQ_FIELD(runq::field::add_and_try_add<lock>)
#endif
