// SPDX-License-Identifier: MIT
// tbb::spin_mutex, a test-and-set lock.
#include <oneapi/tbb/spin_mutex.h>

#include "../field.hpp"

using lock = runq::field::guarded<tbb::spin_mutex>;

RUNQ_FIELD(runq::field::add_and_try_add<lock>)
