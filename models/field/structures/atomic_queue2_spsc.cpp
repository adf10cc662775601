// SPDX-License-Identifier: MIT
// atomic_queue::AtomicQueue2 for one producer and one consumer.
#include <atomic_queue/atomic_queue.h>

#include "../field.hpp"

class queue : public runq::field::tried<atomic_queue::AtomicQueue2<int, 4, true, true, false, true>> {};

static auto make_test() { return runq::field::producer_and_consumer<queue>(3); }

RUNQ_FIELD(make_test)
