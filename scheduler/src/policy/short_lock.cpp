// SPDX-License-Identifier: MIT
#include <sched.h>
#include <time.h>

#include "runq/detail/policy.hpp"

namespace runq::detail {

void short_wait::once() noexcept {
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
