// expect: takes a wait without a name, because it is awaited once
// SPDX-License-Identifier: MIT
// A wait with a name could be awaited again after its value has moved on.
#include <chrono>
#include <string>
#include <utility>

#include <runq/runq.hpp>

runq::task<> send_in_time(runq::channel<std::string>& words) {
  using namespace std::chrono_literals;
  auto sending = words.send("word");
#ifdef RUNQ_CONTROL
  co_await runq::with_timeout(1s, std::move(sending));
#else
  co_await runq::with_timeout(1s, sending);
#endif
}
