// SPDX-License-Identifier: MIT
// atomic_queue::AtomicQueue, whose elements are pointers: what they point at must arrive with them.
#include <atomic_queue/atomic_queue.h>

#include "../field.hpp"

class queue : public runq::field::tried_with_letters<atomic_queue::AtomicQueue<int*, 4>> {};

RUNQ_FIELD(runq::field::push_and_pop_to_the_end<queue>)
