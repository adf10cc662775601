// expect: must have a parameter of the type std::stop_token, by value
// SPDX-License-Identifier: MIT
// with_timeout() could not give it one: a reference would be the caller's.
#include <stop_token>

#include <runq/runq.hpp>

#ifdef RUNQ_CONTROL
runq::stoppable_task<int> answer(int n, std::stop_token /*stop*/ = {}) {
#else
runq::stoppable_task<int> answer(int n, const std::stop_token& /*stop*/ = {}) {
#endif
  co_return n;
}
