// SPDX-License-Identifier: MIT
// A clock that only the test moves. The header defines clock_gettime(), so only one source file of a program may
// include it.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

#include "interposed.hpp"

namespace sched_test {

inline std::atomic<std::int64_t> time_of_test{-1};  // in ns; -1: the system's clock counts

}  // namespace sched_test

#if RUNQ_TEST_MAY_INTERPOSE

extern "C" int clock_gettime(clockid_t clock, timespec* t) noexcept {
  static auto* const real = sched_test::next_one<int(clockid_t, timespec*)>("clock_gettime");
  const std::int64_t now = sched_test::time_of_test.load(std::memory_order::relaxed);
  if (clock != CLOCK_MONOTONIC || now < 0) return real(clock, t);
  t->tv_sec = now / 1'000'000'000;
  t->tv_nsec = now % 1'000'000'000;
  return 0;
}

#endif
