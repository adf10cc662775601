// SPDX-License-Identifier: MIT
// The scheduler as shipped, its own sources with a main(): one processor, and a task whose blocking call ends when
// another task has run. So the monitor must take the processor from the machine in the call, and another machine must
// run that task. The monitor does so in its second round, which takes two deviations: two naps that end.
//
// check --bound 4: bounded
// Without these, the task waits for ever.
// check --bound 1: executions wait for ever
#include <atomic>

#include "runq/runq.hpp"

#undef NDEBUG
#include <cassert>

int main() {
  runq::scheduler s({.procs = 1});
  std::atomic<bool> has_run{false};
  bool has_returned = false;
  s.run([&]() -> runq::task<> {
    runq::go([&] { has_run.store(true, std::memory_order::relaxed); });
    co_await runq::blocking([&] {
      while (!has_run.load(std::memory_order::relaxed)) {
      }
    });
    has_returned = true;
  });
  assert(has_returned);
  const runq::statistics counted = s.stats();
  assert(counted.handed_off == 1);
}
