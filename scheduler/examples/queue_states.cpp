// SPDX-License-Identifier: MIT
// A task starts thousands of others faster than they can run, and prints the scheduler's trace line whenever a local
// queue is full. The brackets hold the lengths of the two local queues, neither of which ever exceeds 256. runqueue is
// the length of the global queue. When a local queue is full, its older half moves there.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <string>

#include <runq/runq.hpp>

int main() {
  runq::scheduler scheduler({.procs = 2});
  scheduler.run([&]() -> runq::task<> {
    std::atomic<bool> both{false};
    runq::go([&] { both = true; });
    while (!both) runq::std_atomics::pause();  // waits until the second processor has begun to work

    constexpr int tasks = 4000;
    // A task ends only when `ahead` more tasks have been started. The other processor holds at most 256 of the waiting
    // tasks, so the queue of this processor fills up, however fast either of them is.
    constexpr int ahead = 600;
    std::atomic<int> started = 0;
    runq::wait_group group;
    group.add(tasks);
    int lines = 0;
    for (int i = 1; i <= tasks; ++i) {
      runq::go([&group, &started, until = std::min(i + ahead, tasks)] {
        while (started < until) runq::std_atomics::pause();
        group.done();
      });
      started = i;
      const std::string line = scheduler.trace();
      if (line.find("[256 ") == line.npos && line.find(" 256]") == line.npos) continue;
      if (++lines <= 10) std::printf("%4d started: %s", i, line.c_str());
    }
    co_await group.wait();
    std::printf("all done:     %s", scheduler.trace().c_str());
  });
}
