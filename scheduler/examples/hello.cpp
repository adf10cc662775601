// SPDX-License-Identifier: MIT
// Ten tasks say hello, and the main task waits for them. On one processor the order is 9, 0, 1 …, because the task that
// was started last runs next. With more processors any order is possible.
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
