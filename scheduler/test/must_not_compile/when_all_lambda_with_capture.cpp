// expect: capture by reference, or give it a name first
// SPDX-License-Identifier: MIT
// g++ 12 would destroy the captured string twice.
#include <chrono>
#include <stop_token>
#include <string>

#include <runq/runq.hpp>

runq::task<> call(std::string text) {
#ifdef RUNQ_CONTROL
  const auto piece = [text](std::stop_token) -> runq::task<> { co_return; };
  (void)co_await runq::when_all(piece);
#else
  (void)co_await runq::when_all([text](std::stop_token) -> runq::task<> { co_return; });
#endif
}
