// SPDX-License-Identifier: MIT
// std::shared_mutex of libstdc++, which is a read-write lock of pthreads.
#include <shared_mutex>

#include "../field.hpp"

using number = runq::field::shared_number<std::shared_mutex>;

RUNQ_FIELD(runq::field::write_and_read<number>)
