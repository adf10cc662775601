// SPDX-License-Identifier: MIT
// A select without arms waits for ever: main waits in one while its ten children greet, and when they have ended it is
// a deadlock. A loop instead of the select would keep a CPU busy for ever.
#include <cstdio>

#include <runq/runq.hpp>

runq::task<> run_main() {
  for (int i = 0; i != 10; ++i) {
    runq::go([i] { std::printf("hello from %d\n", i); });
  }
  co_await runq::select();
}

int main() { runq::run(run_main(), {.procs = 1}); }
