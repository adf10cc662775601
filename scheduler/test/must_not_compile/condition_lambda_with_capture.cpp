// expect: capture by reference, or give it a name first
// SPDX-License-Identifier: MIT
// g++ 12 would destroy the captured string twice.
#include <chrono>
#include <stop_token>
#include <string>

#include <runq/runq.hpp>

runq::task<> call(runq::condition_variable& changed, runq::mutex::guard& held, std::string text) {
#ifdef RUNQ_CONTROL
  co_await changed.wait(held, [&] { return text.empty(); });
#else
  co_await changed.wait(held, [text] { return text.empty(); });
#endif
}
