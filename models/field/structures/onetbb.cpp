// SPDX-License-Identifier: MIT
// Structures of oneTBB: one of them is compiled, which the macro FIELD_<name> chooses.

#ifdef FIELD_tbb_spin_mutex
// tbb::spin_mutex, a test-and-set lock.
#include <oneapi/tbb/spin_mutex.h>

#include "../field.hpp"

using lock = runq::field::guarded<tbb::spin_mutex>;

RUNQ_FIELD(runq::field::add_and_try_add<lock>)
#endif

#ifdef FIELD_tbb_spin_rw_mutex
// tbb::spin_rw_mutex, a lock for one writer or many readers.
#include <oneapi/tbb/spin_rw_mutex.h>

#include "../field.hpp"

using number = runq::field::shared_number<tbb::spin_rw_mutex>;

RUNQ_FIELD(runq::field::write_and_read<number>)
#endif

#ifdef FIELD_tbb_queuing_mutex
// tbb::queuing_mutex, an MCS lock.
#include <oneapi/tbb/queuing_mutex.h>

#include "../field.hpp"

/// The node is on the caller's stack.
class lock {
 public:
  int add() {
    const tbb::queuing_mutex::scoped_lock holds(mutex_);
    return value_++;
  }
  std::optional<int> try_add() {
    tbb::queuing_mutex::scoped_lock holds;
    if (!holds.try_acquire(mutex_)) return {};
    return value_++;
  }

 private:
  tbb::queuing_mutex mutex_;
  int value_ = 0;
};

RUNQ_FIELD(runq::field::add_and_try_add<lock>)
#endif
