// SPDX-License-Identifier: MIT
// An idle processor steals four of the seven tasks in another processor's queue: it runs one of them, and three wait in
// its own queue.
#include <atomic>
#include <cstdio>
#include <string>

#include <runq/runq.hpp>

namespace {

// A gate for tasks that keep their processors: pass() shows that the task runs, and returns when the gate is open.
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

// Returns the part of the trace line from "runqueue" on.
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
    // The first task keeps the other processor busy while this one fills its queue.
    runq::go([&] { first.pass(); });
    first.await_inside();
    // Starts eight tasks, because the last one waits in runnext and not in the queue.
    for (int i = 0; i != 8; ++i) runq::go([&] { stolen.pass(); });
    std::printf("seven tasks in one queue:      %s", queues(scheduler).c_str());
    first.open = true;
    stolen.await_inside();
    std::printf("four taken, one of them runs:  %s", queues(scheduler).c_str());
    stolen.open = true;
    co_return;
  });
}
