// SPDX-License-Identifier: MIT
// For tests that run with each fork policy.
#pragma once

#include <string>

#include "support.hpp"

namespace sched_test {

/// Base class of a suite of such tests. Instantiate the suite so:
///     INSTANTIATE_TEST_SUITE_P(policies, SUITE, sched_test::every_fork_policy, sched_test::name_of_fork_policy);
class with_fork_policy : public testing::TestWithParam<runq::fork_policy> {
 protected:
  /// Calls f(options) with the test's policy and 1, 2, 4 and 16 processors.
  template <class F>
  static void on_any_number_of_processors(F&& f) {
    for (const unsigned procs : proc_counts) {
      SCOPED_TRACE(procs);
      f(runq::options{.procs = procs, .forks = GetParam()});
    }
  }
};

inline const auto every_fork_policy =
    testing::Values(runq::fork_policy::continuation, runq::fork_policy::child, runq::fork_policy::task);

/// Calls f(options) with each policy and each number of processors, in tests that are not of such a suite.
template <class F>
void with_each_policy_on_any_number_of_processors(F&& f) {
  for (const unsigned procs : proc_counts) {
    for (const auto policy : {runq::fork_policy::continuation, runq::fork_policy::child, runq::fork_policy::task}) {
      f(runq::options{.procs = procs, .forks = policy});
    }
  }
}

/// The Fibonacci number of n, by a fork and a call for each.
inline runq::task<int> fib(int n) {
  if (n < 2) co_return n;
  auto a = co_await runq::fork(fib(n - 1));
  const int b = co_await fib(n - 2);
  co_await runq::join();
  co_return a.get() + b;
}

[[nodiscard]] inline std::string name_of_fork_policy(const testing::TestParamInfo<runq::fork_policy>& policy) {
  switch (policy.param) {
    case runq::fork_policy::continuation: return "continuation";
    case runq::fork_policy::child: return "child";
    case runq::fork_policy::task: break;
  }
  return "task";
}

}  // namespace sched_test
