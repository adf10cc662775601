// SPDX-License-Identifier: MIT
// boost::fibers::detail::spinlock_ttas_futex: test, then test-and-set, and a futex.
#include <algorithm>
#include <atomic>
#include <chrono>

#include <boost/fiber/detail/config.hpp>
#include <boost/fiber/detail/spinlock_ttas_futex.hpp>

#include "../field.hpp"

using lock = runq::field::guarded<boost::fibers::detail::spinlock_ttas_futex>;

static auto make_test() {
  auto test = runq::field::add_and_try_add<lock>();
  test.options.calls = 1;
  return test;
}

RUNQ_FIELD(make_test)
