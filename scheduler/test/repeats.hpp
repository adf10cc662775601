// SPDX-License-Identifier: MIT
// For tests of faults that show once in many runs. Such a test repeats its scenario; edges/edges.py repeats the test.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "support.hpp"

namespace sched_test {

/// Whether edges.py or an exploration repeats this program's tests. Then each test goes through its scenario once, so
/// that the number of repetitions is the number of runs.
[[nodiscard]] inline bool repeated_as_a_whole() {
#ifdef RUNQ_TEST_EXPLORED
  return true;
#else
  static const bool is = std::getenv("RUNQ_TEST_ONCE") != nullptr;
  return is;
#endif
}

/// How often a test repeats its scenario: rounds(n) times, but at least `at_least` times.
[[nodiscard]] inline std::size_t repeats(std::size_t n, std::size_t at_least) {
  return repeated_as_a_whole() ? 1 : std::max(rounds(n), at_least);
}
/// Like the function above, for scenarios that take about the same time in every build.
[[nodiscard]] inline int repeats(int n) { return repeated_as_a_whole() ? 1 : n; }

/// Ends the time slice of the calling task if the test is repeated as a whole, so that a run does not last the 10 ms
/// for which the monitor waits. monitor_test has two tests that are repeated without this:
/// S6_a_task_that_never_waits_... and S6_a_task_that_calls_....
inline void end_slice_when_repeated() {
  if (!repeated_as_a_whole()) return;
  auto& slice = runq::detail::this_front()->slice;
  slice.end(slice.current());
}

}  // namespace sched_test
