// SPDX-License-Identifier: MIT
#include <sched.h>
#include <time.h>

#include "runq/detail/policy.hpp"

namespace runq::detail {

void short_wait::once() noexcept {
  constexpr int pauses = 100;      // some µs: longer than any section; then its thread has lost its CPU …
  constexpr int yields = 100;      // … and gets it back from this one, unless …
  constexpr long sleep = 100'000;  // ns: … it may not run beside it: SCHED_FIFO, or a quota of CPU time that is used up
  if (times_ < pauses) {
    std_atomics::pause();
  } else if (times_ < pauses + yields) {
    sched_yield();
  } else {
    const timespec t{0, sleep};
    (void)nanosleep(&t, nullptr);
    return;
  }
  ++times_;
}

}  // namespace runq::detail
