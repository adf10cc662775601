// expect: without arguments or with a std::stop_token
// SPDX-License-Identifier: MIT
#include <stop_token>

#include <runq/runq.hpp>

void start() {
#ifdef RUNQ_CONTROL
  runq::spawn([](std::stop_token) { return 1; }).detach();
#else
  runq::spawn([](int) { return 1; }).detach();
#endif
}
