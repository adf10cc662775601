// SPDX-License-Identifier: MIT
// atomic_queue::AtomicQueueSpinlock: a ring behind a spin lock of pthreads.
#include <atomic_queue/atomic_queue_mutex.h>

#include "../field.hpp"

class queue : public runq::field::tried<atomic_queue::AtomicQueueSpinlock<int, 4>> {};

RUNQ_FIELD(runq::field::push_and_pop<queue>)
