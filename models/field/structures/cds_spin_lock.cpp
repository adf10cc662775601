// SPDX-License-Identifier: MIT
// cds::sync::spin: a test-and-set lock of libcds.
#include <cds/sync/spinlock.h>

#include "../field.hpp"

using lock = runq::field::guarded<cds::sync::spin>;

RUNQ_FIELD(runq::field::add_and_try_add<lock>)
