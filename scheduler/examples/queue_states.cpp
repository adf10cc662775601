// SPDX-License-Identifier: MIT
// A task starts thousands of others, faster than two processors run them: what the scheduler's trace line shows
// whenever a local queue is full. The brackets hold the two local queues, none of which ever exceeds 256; runqueue is
// the global one, into which a full queue's older half goes.
#include <atomic>
#include <cstdio>
#include <string>

#include <runq/runq.hpp>

int main() {
  runq::scheduler scheduler({.procs = 2});
  scheduler.run([&]() -> runq::task<> {
    std::atomic<bool> both{false};
    runq::go([&] { both = true; });
    while (!both) runq::std_atomics::pause();  // until the second processor has begun to work

    constexpr int tasks = 4000;
    runq::wait_group group;
    group.add(tasks);
    int lines = 0;
    for (int i = 1; i <= tasks; ++i) {
      runq::go([&group] {
        for (int work = 0; work != 1000; ++work) runq::std_atomics::pause();
        group.done();
      });
      const std::string line = scheduler.trace();
      if (line.find("[256 ") == line.npos && line.find(" 256]") == line.npos) continue;
      if (++lines <= 10) std::printf("%4d started: %s", i, line.c_str());
    }
    co_await group.wait();
    std::printf("all done:     %s", scheduler.trace().c_str());
  });
}
