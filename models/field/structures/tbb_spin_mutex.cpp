// SPDX-License-Identifier: MIT
// tbb::spin_mutex, a test-and-set lock.
#include <oneapi/tbb/spin_mutex.h>

#include "../field.hpp"

using lock = runq::field::guarded<tbb::spin_mutex>;

static auto make_test() {
  runq::linearizable<lock, runq::field::guarded_by_spec> test;
  test.operation("add", RUNQ_CODE([](auto& l) { return l.add(); }));
  test.operation("try_add", RUNQ_CODE([](auto& l) { return l.try_add(); }));
  return test;
}

RUNQ_FIELD(make_test)
