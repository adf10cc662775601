// SPDX-License-Identifier: MIT
// printnumber with one receive too many: no task is left that could send, so the scheduler reports a deadlock and ends
// the process with status 2.
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
  for (int i = 0; i != 3; ++i) (void)co_await done.receive();
}

int main() { runq::run(run_main(), {.procs = 1}); }
