// expect: capture by reference
// SPDX-License-Identifier: MIT
// g++ 12 would destroy the captured string twice.
#include <string>

#include <runq/runq.hpp>

runq::task<bool> exists(std::string path) {
#ifdef RUNQ_CONTROL
  co_return co_await runq::blocking([&] { return !path.empty(); });
#else
  co_return co_await runq::blocking([path] { return !path.empty(); });
#endif
}
