// SPDX-License-Identifier: MIT
// For test programs that replace functions of the C library. The replacement calls the library's function unless a test
// asks for something else.
#pragma once

#include <dlfcn.h>

#include "support.hpp"

// A sanitizer replaces these functions itself, so a test cannot. Under exploration the next one is the explorer's.
#ifdef RUNQ_TEST_EXPLORED
#define RUNQ_TEST_MAY_INTERPOSE 1
#else
#define RUNQ_TEST_MAY_INTERPOSE (RUNQ_TEST_TSAN == 0 && RUNQ_TEST_ASAN == 0)
#endif

namespace sched_test {

inline constexpr bool interposed = RUNQ_TEST_MAY_INTERPOSE;

/// The C library's function of that name, which this program replaces.
template <class F>
[[nodiscard]] F* next_one(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

}  // namespace sched_test
