// SPDX-License-Identifier: MIT
// A main task that waits for nothing lets its ten children greet; when they are done, nothing can happen any more,
// which is a deadlock. A loop instead of the select would keep a CPU busy for ever.
#include <cstdio>

#include <runq/runq.hpp>

runq::task<> run_main() {
  for (int i = 0; i != 10; ++i) {
    runq::go([i] { std::printf("hello from %d\n", i); });
  }
  co_await runq::select();
}

int main() { runq::run(run_main(), {.procs = 1}); }
