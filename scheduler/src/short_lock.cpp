// SPDX-License-Identifier: MIT
#include <sched.h>

#include "runq/detail/policy.hpp"

namespace runq::detail {

[[gnu::noinline]] void short_lock::lock_taken() noexcept {
  constexpr int pauses = 100;  // some µs: longer than any section; then its thread has lost its CPU
  do {
    for (int i = 0; taken_.load(std::memory_order::relaxed); ++i) {
      if (i < pauses) {
        std_atomics::pause();
      } else {
        sched_yield();
      }
    }
  } while (taken_.exchange(true, std::memory_order::acquire));
}

}  // namespace runq::detail
