// SPDX-License-Identifier: MIT
// One processor has seven tasks in its queue, the other one nothing to do: it takes four of them, of which one runs and
// three wait in its own queue.
#include <atomic>
#include <cstdio>
#include <string>

#include <runq/runq.hpp>

namespace {

// A task that keeps its processor: tells that it runs, and goes on when it may.
struct gate {
  std::atomic<int> inside{0};
  std::atomic<bool> open{false};
  void pass() {
    ++inside;
    while (!open) runq::std_atomics::pause();
  }
  void await_inside() const {
    while (inside == 0) runq::std_atomics::pause();
  }
};

// The part of the trace line from "runqueue" on.
std::string queues(const runq::scheduler& scheduler) {
  const std::string line = scheduler.trace();
  return line.substr(line.find("runqueue"));
}

}  // namespace

int main() {
  gate first;
  gate stolen;
  runq::scheduler scheduler({.procs = 2});
  scheduler.run([&]() -> runq::task<> {
    // Keeps the other processor busy until the queue is as we want it.
    runq::go([&] { first.pass(); });
    first.await_inside();
    // One more than seven, because the last one waits in runnext.
    for (int i = 0; i != 8; ++i) runq::go([&] { stolen.pass(); });
    std::printf("seven tasks in one queue:      %s", queues(scheduler).c_str());
    first.open = true;
    stolen.await_inside();
    std::printf("four taken, one of them runs:  %s", queues(scheduler).c_str());
    stolen.open = true;
    co_return;
  });
}
