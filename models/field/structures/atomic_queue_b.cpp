// SPDX-License-Identifier: MIT
// atomic_queue::AtomicQueueB: a ring of atomic elements whose size is chosen at run time.
#include <atomic_queue/atomic_queue.h>

#include "../field.hpp"

class queue : public runq::field::tried<atomic_queue::AtomicQueueB<int>, 4> {};

RUNQ_FIELD(runq::field::push_and_pop_to_the_end<queue>)
