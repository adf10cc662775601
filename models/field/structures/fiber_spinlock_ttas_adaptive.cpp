// SPDX-License-Identifier: MIT
// boost::fibers::detail::spinlock_ttas_adaptive: test, then test-and-set, with a back-off that learns.
#include <algorithm>
#include <atomic>
#include <chrono>

#include <boost/fiber/detail/config.hpp>
#include <boost/fiber/detail/spinlock_ttas_adaptive.hpp>

#include "../field.hpp"

using lock = runq::field::guarded<boost::fibers::detail::spinlock_ttas_adaptive>;

RUNQ_FIELD(runq::field::add_and_try_add<lock>)
