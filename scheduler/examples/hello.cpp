// SPDX-License-Identifier: MIT
// Ten tasks say hello; the main task waits for them. They say it in the order 9, 0, 1 … on one processor, because the
// task that was started last runs next; with more processors in any order.
#include <cstdio>

#include <runq/runq.hpp>

runq::task<> run_main() {
  runq::wait_group greetings;
  greetings.add(10);
  for (int i = 0; i != 10; ++i) {
    runq::go([&greetings, i] {
      std::printf("hello from %d\n", i);
      greetings.done();
    });
  }
  co_await greetings.wait();
}

int main() { runq::run(run_main(), {.procs = 1}); }
