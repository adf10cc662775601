// SPDX-License-Identifier: MIT
#include <sched.h>
#include <time.h>

#include "runq/detail/policy.hpp"

namespace runq::detail {

void short_wait::once() noexcept {
  // Pauses take some µs, longer than any section; after that the holder must have lost its CPU. A yield lets the holder
  // run, unless it may not run before this thread sleeps: SCHED_FIFO, or a quota of CPU time that is used up.
  constexpr int pauses = 100;
  constexpr int yields = 100;
  constexpr long sleep = 100'000;  // ns
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
