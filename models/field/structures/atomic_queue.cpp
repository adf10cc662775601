// SPDX-License-Identifier: MIT
// atomic_queue::AtomicQueue: a ring of atomic elements.
#include <atomic_queue/atomic_queue.h>

#include "../field.hpp"

class queue : public runq::field::tried<atomic_queue::AtomicQueue<int, 4>> {};

RUNQ_FIELD(runq::field::push_and_pop_to_the_end<queue>)
