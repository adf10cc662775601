// expect: a task, or a function that can be called without arguments
// SPDX-License-Identifier: MIT
#include <runq/runq.hpp>

void start() {
#ifdef RUNQ_CONTROL
  runq::go([] {});
#else
  runq::go([](int) {});
#endif
}
