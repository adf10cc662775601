// SPDX-License-Identifier: MIT
// A task starts thousands of others, faster than two processors run them: what the scheduler's trace line shows
// meanwhile. runqueue is the global queue, the brackets hold the two local ones, none of which ever exceeds 256.
#include <cstdio>

#include <runq/runq.hpp>

int main() {
  runq::scheduler scheduler({.procs = 2});
  scheduler.run([&]() -> runq::task<> {
    runq::wait_group group;
    group.add(4000);
    for (int i = 1; i <= 4000; ++i) {
      runq::go([&group] {
        for (int work = 0; work != 100; ++work) runq::std_atomics::pause();
        group.done();
      });
      if (i % 500 == 0) std::printf("%4d started: %s", i, scheduler.trace().c_str());
    }
    co_await group.wait();
    std::printf("all done:     %s", scheduler.trace().c_str());
  });
}
