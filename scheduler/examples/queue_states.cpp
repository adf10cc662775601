// SPDX-License-Identifier: MIT
// A task starts thousands of others, faster than two processors run them: what the scheduler's trace line shows
// whenever a local queue is full. The brackets hold the two local queues, none of which ever exceeds 256; runqueue is
// the global one, into which a full queue's older half goes.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>

#include <runq/runq.hpp>

namespace {

// Longer than it takes to start a task, on a slow machine too: the queue fills up.
void work() {
  const auto end = runq::clock::now() + std::chrono::microseconds(100);
  while (runq::clock::now() < end) runq::std_atomics::pause();
}

}  // namespace

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
        work();
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
