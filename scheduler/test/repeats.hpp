// SPDX-License-Identifier: MIT
// For tests of what goes wrong once in many runs: they repeat it, and edges/edges.py repeats them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "support.hpp"

namespace sched_test {

/// Whether this program is repeated as a whole: then each test goes through what it is about once, so that the number
/// of repetitions is that of runs.
[[nodiscard]] inline bool repeated_as_a_whole() {
  static const bool is = std::getenv("RUNQ_TEST_ONCE") != nullptr;
  return is;
}

/// How often a test goes through it: rounds(n) times, and at_least times in a slow build.
[[nodiscard]] inline std::size_t repeats(std::size_t n, std::size_t at_least) {
  return repeated_as_a_whole() ? 1 : std::max(rounds(n), at_least);
}
/// The same for what costs every build alike.
[[nodiscard]] inline int repeats(int n) { return repeated_as_a_whole() ? 1 : n; }

}  // namespace sched_test
