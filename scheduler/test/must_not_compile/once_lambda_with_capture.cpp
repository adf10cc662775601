// expect: capture by reference, or give it a name first
// SPDX-License-Identifier: MIT
// g++ 12 would destroy the captured string twice.
#include <chrono>
#include <stop_token>
#include <string>

#include <runq/runq.hpp>

runq::task<> call(runq::once& o, std::string text) {
#ifdef RUNQ_CONTROL
  co_await o.call([&] { text.clear(); });
#else
  co_await o.call([text]() mutable { text.clear(); });
#endif
}
