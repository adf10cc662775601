// SPDX-License-Identifier: MIT
#include <sched.h>
#include <time.h>

#include "runq/detail/policy.hpp"

namespace runq::detail {

[[gnu::noinline]] void short_lock::lock_taken() noexcept {
  constexpr int pauses = 100;      // some µs: longer than any section; then its thread has lost its CPU …
  constexpr int yields = 100;      // … and gets it back from this one, unless …
  constexpr long sleep = 100'000;  // ns: … it may not run beside it: SCHED_FIFO, or a quota of CPU time that is used up
  do {
    for (int i = 0; taken_.load(std::memory_order::relaxed); ++i) {
      if (i < pauses) {
        std_atomics::pause();
      } else if (i < pauses + yields) {
        sched_yield();
      } else {
        i = pauses + yields;
        const timespec t{0, sleep};
        (void)nanosleep(&t, nullptr);
      }
    }
  } while (taken_.exchange(true, std::memory_order::acquire));
}

}  // namespace runq::detail
