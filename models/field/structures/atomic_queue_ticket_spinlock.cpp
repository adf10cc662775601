// SPDX-License-Identifier: MIT
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
