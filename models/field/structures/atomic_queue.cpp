// SPDX-License-Identifier: MIT
// Structures of atomic_queue: one of them is compiled, which the macro FIELD_<name> chooses.

#ifdef FIELD_atomic_queue
// atomic_queue::AtomicQueue: a ring of atomic elements.
#include <atomic_queue/atomic_queue.h>

#include "../field.hpp"

class queue : public runq::field::tried<atomic_queue::AtomicQueue<int, 4>> {};

RUNQ_FIELD(runq::field::push_and_pop_to_the_end<queue>)
#endif

#ifdef FIELD_atomic_queue2
// atomic_queue::AtomicQueue2: a ring of plain elements, each with a state.
#include <atomic_queue/atomic_queue.h>

#include "../field.hpp"

class queue : public runq::field::tried<atomic_queue::AtomicQueue2<int, 4>> {};

RUNQ_FIELD(runq::field::push_and_pop_to_the_end<queue>)
#endif

#ifdef FIELD_atomic_queue_b
// atomic_queue::AtomicQueueB: a ring of atomic elements whose size is chosen at run time.
#include <atomic_queue/atomic_queue.h>

#include "../field.hpp"

class queue : public runq::field::tried<atomic_queue::AtomicQueueB<int>, 4> {};

RUNQ_FIELD(runq::field::push_and_pop_to_the_end<queue>)
#endif

#ifdef FIELD_atomic_queue_b2
// atomic_queue::AtomicQueueB2: a ring of plain elements, each with a state, whose size is chosen at run time, at
// least 4,096.
#include <atomic_queue/atomic_queue.h>

#include "../field.hpp"

class queue : public runq::field::tried<atomic_queue::AtomicQueueB2<int>, 4> {};

RUNQ_FIELD(runq::field::push_and_pop_to_the_end<queue>)
#endif

#ifdef FIELD_atomic_queue2_spsc
// atomic_queue::AtomicQueue2 for one producer and one consumer.
#include <atomic_queue/atomic_queue.h>

#include "../field.hpp"

class queue : public runq::field::tried<atomic_queue::AtomicQueue2<int, 4, true, true, false, true>> {};

static auto make_test() { return runq::field::producer_and_consumer<queue>(3); }

RUNQ_FIELD(make_test)
#endif

#ifdef FIELD_atomic_queue_of_pointers
// atomic_queue::AtomicQueue, whose elements are pointers: what they point at must arrive with them.
#include <atomic_queue/atomic_queue.h>

#include "../field.hpp"

class queue : public runq::field::tried_with_letters<atomic_queue::AtomicQueue<int*, 4>> {};

RUNQ_FIELD(runq::field::push_and_pop_to_the_end<queue>)
#endif

#ifdef FIELD_atomic_queue_spsc_of_pointers
// atomic_queue::AtomicQueue for one producer and one consumer, whose elements are pointers.
#include <atomic_queue/atomic_queue.h>

#include "../field.hpp"

class queue
    : public runq::field::tried_with_letters<atomic_queue::AtomicQueue<int*, 4, nullptr, true, true, false, true>> {};

static auto make_test() { return runq::field::producer_and_consumer<queue>(2); }

RUNQ_FIELD(make_test)
#endif

#ifdef FIELD_atomic_queue_spinlock
// atomic_queue::AtomicQueueSpinlock: a ring behind a spin lock of pthreads.
#include <atomic_queue/atomic_queue_mutex.h>

#include "../field.hpp"

class queue : public runq::field::tried<atomic_queue::AtomicQueueSpinlock<int, 4>> {};

RUNQ_FIELD(runq::field::push_and_pop<queue>)
#endif

#ifdef FIELD_atomic_queue_ticket_spinlock
// atomic_queue::TicketSpinlock by its scoped lock. PLAIN_UNLOCK: by lock() and unlock().
#include <atomic_queue/spinlock.h>

#include "../field.hpp"

#ifdef PLAIN_UNLOCK
using lock = runq::field::guarded<atomic_queue::TicketSpinlock>;
#else
class lock {
 public:
  int add() {
    const atomic_queue::TicketSpinlock::scoped_lock holds(lock_);
    return value_++;
  }

 private:
  atomic_queue::TicketSpinlock lock_;
  int value_ = 0;
};
#endif

static auto make_test() {
  runq::linearizable<lock, runq::field::guarded_by_spec> test;
  test.operation("add", RUNQ_CODE([](auto& l) { return l.add(); }));
  return test;
}

RUNQ_FIELD(make_test)
#endif
