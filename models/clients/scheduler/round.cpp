// SPDX-License-Identifier: MIT
// The scheduler as shipped, its own sources with a main(): two machines, one stolen task, one round through a channel,
// and the end of the run. The main task keeps its machine busy until another task runs, so another machine must steal
// it.
//
// check --bound 1: bounded
//
// If no timeout of the monitor helps, it still comes to its end; and of these mutants some execution does not.
// check --bound 1 --judge-timed-waits --timeouts 0: bounded
// check --bound 2 --judge-timed-waits --timeouts 0 MUTANT=machine_loop/found_forgotten: FAIL deadlock
// check --bound 2 --judge-timed-waits --timeouts 0 MUTANT=monitor/stop_wakes_nobody: FAIL deadlock
// check --bound 2 --judge-timed-waits --timeouts 0 MUTANT=monitor/stop_after_its_token: FAIL deadlock
// check --bound 2 --judge-timed-waits --timeouts 0 MUTANT=park/stop_still_sleeps: FAIL deadlock
#include <atomic>

#include "runq/runq.hpp"

#undef NDEBUG
#include <cassert>

int main() {
  runq::scheduler s({.procs = 2});
  std::atomic<bool> stolen{false};
  int got = 0;
  s.run([&]() -> runq::task<> {
    runq::channel<int> numbers(0);
    runq::go([&]() -> runq::task<> {
      stolen.store(true, std::memory_order::relaxed);
      co_await numbers.send(7);
    });
    while (!stolen.load(std::memory_order::relaxed)) {
    }
    got = (co_await numbers.receive()).value_or(0);
  });
  assert(got == 7);
  const runq::statistics counted = s.stats();
  assert(counted.steals != 0);
}
