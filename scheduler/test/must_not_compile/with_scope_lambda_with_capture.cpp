// expect: capture by reference, or give it a name first
// SPDX-License-Identifier: MIT
// g++ 12 would destroy the captured string twice.
#include <chrono>
#include <stop_token>
#include <string>

#include <runq/runq.hpp>

runq::task<> call(std::string text) {
#ifdef RUNQ_CONTROL
  co_await runq::with_scope([&](runq::scope&) -> runq::task<> { co_return text.clear(); });
#else
  co_await runq::with_scope([text](runq::scope&) mutable -> runq::task<> { co_return text.clear(); });
#endif
}
