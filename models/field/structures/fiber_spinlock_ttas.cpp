// SPDX-License-Identifier: MIT
// boost::fibers::detail::spinlock_ttas: test, then test-and-set.
#include <algorithm>
#include <atomic>
#include <chrono>

#include <boost/fiber/detail/config.hpp>
#include <boost/fiber/detail/spinlock_ttas.hpp>

#include "../field.hpp"

using lock = runq::field::guarded<boost::fibers::detail::spinlock_ttas>;

RUNQ_FIELD(runq::field::add_and_try_add<lock>)
