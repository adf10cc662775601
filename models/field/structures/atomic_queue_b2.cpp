// SPDX-License-Identifier: MIT
// atomic_queue::AtomicQueueB2: a ring of plain elements, each with a state, whose size is chosen at run time, at
// least 4,096.
#include <atomic_queue/atomic_queue.h>

#include "../field.hpp"

class queue : public runq::field::tried<atomic_queue::AtomicQueueB2<int>, 4> {};

RUNQ_FIELD(runq::field::push_and_pop_to_the_end<queue>)
