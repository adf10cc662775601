// expect: cannot end a blocking call that has begun; spawn it, and limit the wait for its end
// SPDX-License-Identifier: MIT
// Nothing ends a call that blocks.
#include <chrono>

#include <runq/runq.hpp>

int slow_call();

runq::task<int> call_in_time() {
  using namespace std::chrono_literals;
#ifdef RUNQ_CONTROL
  auto call = runq::spawn([]() -> runq::task<int> { co_return co_await runq::blocking(slow_call); });
  co_return co_await runq::with_timeout(1s, call);
#else
  co_return co_await runq::with_timeout(1s, runq::blocking(slow_call));
#endif
}
