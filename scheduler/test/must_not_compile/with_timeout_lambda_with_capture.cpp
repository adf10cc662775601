// expect: capture by reference, or give it a name first
// SPDX-License-Identifier: MIT
// g++ 12 would destroy the captured string twice.
#include <chrono>
#include <stop_token>
#include <string>

#include <runq/runq.hpp>

runq::task<> call(std::string text) {
  using namespace std::chrono_literals;
#ifdef RUNQ_CONTROL
  co_await runq::with_timeout(1s, [&](std::stop_token) -> runq::task<> { co_return text.clear(); });
#else
  co_await runq::with_timeout(1s, [text](std::stop_token) mutable -> runq::task<> { co_return text.clear(); });
#endif
}
