// expect: give a lambda a name first
// SPDX-License-Identifier: MIT
// g++ 12 would destroy the string that the lambda has captured twice.
#include <functional>
#include <string>

#include <runq/runq.hpp>

runq::task<> send(runq::channel<std::function<void()>>& jobs, std::string text) {
#ifdef RUNQ_CONTROL
  const auto job = [text] {};
  co_await jobs.send(job);
#else
  co_await jobs.send([text] {});
#endif
}
