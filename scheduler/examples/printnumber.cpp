// SPDX-License-Identifier: MIT
// Two tasks print numbers and then send a message on a channel. The main task waits for both messages. On one processor
// the second task prints first, because it was started last.
#include <cstdio>

#include <runq/runq.hpp>

runq::task<> print_number(int from, int to, runq::channel<int>& done) {
  for (int n = from; n <= to; ++n) std::printf("%d\n", n);
  co_await done.send(0);
}

runq::task<> run_main() {
  runq::channel<int> done(3);
  runq::go(print_number(1, 3, done), "print 1-3");
  runq::go(print_number(4, 6, done), "print 4-6");
  (void)co_await done.receive();
  (void)co_await done.receive();
}

int main() { runq::run(run_main(), {.procs = 1}); }
