// expect: takes a coroutine function with one parameter, a std::stop_token
// SPDX-License-Identifier: MIT
// Nothing could end the join when the time is over.
#include <chrono>
#include <optional>

#include <runq/runq.hpp>

runq::task<> receive_in_time(runq::channel<int>& numbers) {
  using namespace std::chrono_literals;
#ifdef RUNQ_CONTROL
  const std::optional<int> number = co_await runq::with_timeout(1s, numbers.receive());
  (void)number;
#else
  co_await runq::with_timeout(1s, runq::join());
#endif
  (void)numbers;
}
