// expect: takes a coroutine function with one parameter, a std::stop_token
// SPDX-License-Identifier: MIT
// Nothing could end the receive when the time is over.
#include <chrono>
#include <optional>
#include <stop_token>

#include <runq/runq.hpp>

runq::task<> receive_in_time(runq::channel<int>& numbers) {
  using namespace std::chrono_literals;
#ifdef RUNQ_CONTROL
  std::optional<int> number;
  co_await runq::with_timeout(1s, [&](std::stop_token stop) -> runq::task<> {
    (void)co_await runq::select(stop, runq::on_receive(numbers, number));
  });
#else
  (void)co_await runq::with_timeout(1s, numbers.receive());
#endif
}
