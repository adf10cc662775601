// SPDX-License-Identifier: MIT
// boost::fibers::detail::spinlock_ttas_adaptive_futex: test, then test-and-set, with a back-off that learns, and a
// futex.
#include <algorithm>
#include <atomic>
#include <chrono>

#include <boost/fiber/detail/config.hpp>
#include <boost/fiber/detail/spinlock_ttas_adaptive_futex.hpp>

#include "../field.hpp"

using lock = runq::field::guarded<boost::fibers::detail::spinlock_ttas_adaptive_futex>;

static auto make_test() {
  runq::linearizable<lock, runq::field::guarded_by_spec> test;
  test.operation("add", RUNQ_CODE([](auto& l) { return l.add(); }));
  test.operation("try_add", RUNQ_CODE([](auto& l) { return l.try_add(); }));
  test.options.calls = 1;
  return test;
}

RUNQ_FIELD(make_test)
