// SPDX-License-Identifier: MIT
// boost::fibers::detail::spinlock_ttas: test, then test-and-set.
#include <algorithm>
#include <atomic>
#include <chrono>

#include <boost/fiber/detail/config.hpp>
#include <boost/fiber/detail/spinlock_ttas.hpp>

#include "../field.hpp"

using lock = runq::field::guarded<boost::fibers::detail::spinlock_ttas>;

static auto make_test() {
  runq::linearizable<lock, runq::field::guarded_by_spec> test;
  test.operation("add", RUNQ_CODE([](auto& l) { return l.add(); }));
  test.operation("try_add", RUNQ_CODE([](auto& l) { return l.try_add(); }));
  return test;
}

RUNQ_FIELD(make_test)
