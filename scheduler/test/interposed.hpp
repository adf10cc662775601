// SPDX-License-Identifier: MIT
// For tests that have functions of the C library themselves, and pass calls on until a test wants otherwise.
#pragma once

#include <dlfcn.h>

#include "support.hpp"

// A sanitizer has these functions for itself.
#define RUNQ_TEST_MAY_INTERPOSE (RUNQ_TEST_TSAN == 0 && RUNQ_TEST_ASAN == 0)

namespace sched_test {

inline constexpr bool interposed = RUNQ_TEST_MAY_INTERPOSE;

/// The function of that name that this program's own one stands before.
template <class F>
[[nodiscard]] F* next_one(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

}  // namespace sched_test
