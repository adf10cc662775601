// SPDX-License-Identifier: MIT
// atomic_queue::AtomicQueue for one producer and one consumer, whose elements are pointers.
#include <atomic_queue/atomic_queue.h>

#include "../field.hpp"

class queue
    : public runq::field::tried_with_letters<atomic_queue::AtomicQueue<int*, 4, nullptr, true, true, false, true>> {};

static auto make_test() { return runq::field::producer_and_consumer<queue>(2); }

RUNQ_FIELD(make_test)
