// SPDX-License-Identifier: MIT
// tbb::spin_rw_mutex, a lock for one writer or many readers.
#include <oneapi/tbb/spin_rw_mutex.h>

#include "../field.hpp"

using number = runq::field::shared_number<tbb::spin_rw_mutex>;

RUNQ_FIELD(runq::field::write_and_read<number>)
