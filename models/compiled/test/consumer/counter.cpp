// SPDX-License-Identifier: MIT
// A library of the project, which counts; wrong if WRONG.
#include "counter.hpp"

#include <atomic>

namespace {

#if defined(WRONG)
int counted = 0;
#else
std::atomic<int> counted{0};
#endif

}  // namespace

void count_once() { ++counted; }
int count_of_all() { return counted; }
