// SPDX-License-Identifier: MIT
// A program that uses the installed scheduler.
#include <runq/runq.hpp>

static runq::task<int> twice(int n) { co_return 2 * n; }

int main() {
  const int got = runq::run([]() -> runq::task<int> {
    runq::channel<int> results(1);
    runq::go([&]() -> runq::task<> { co_await results.send(co_await twice(21)); });
    co_return *co_await results.receive();
  });
  return got == 42 ? 0 : 1;
}
