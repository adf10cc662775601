// SPDX-License-Identifier: MIT
// Records what runs where and when. `./kit demo trace` draws a picture of the recording. Perfetto (ui.perfetto.dev) and
// chrome://tracing open the file itself. The recorded work, on two processors: tasks that compute, half of which the
// other processor steals; calls that block their threads; two tasks that wait for each other over a channel; a fork.
//   trace [FILE]    FILE: where to write; the default is the value of RUNQ_TRACE, or trace.json
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <runq/runq.hpp>

using namespace std::chrono_literals;

namespace {

void compute(std::chrono::microseconds time) {
  const auto end = runq::clock::now() + time;
  while (runq::clock::now() < end) runq::std_atomics::pause();
}

runq::task<> reader(runq::wait_group& all) {
  compute(100us);
  co_await runq::blocking([] { std::this_thread::sleep_for(400us); });
  compute(100us);
  all.done();
}

runq::task<> producer(runq::channel<int>& numbers, runq::wait_group& all) {
  for (int i = 0; i != 6; ++i) {
    compute(40us);
    co_await numbers.send(i);
  }
  numbers.close();
  all.done();
}

runq::task<> consumer(runq::channel<int>& numbers, runq::wait_group& all) {
  while (auto n = co_await numbers.receive()) compute(20us);
  all.done();
}

runq::task<> half() {
  compute(150us);
  co_return;
}

runq::task<> run_main() {
  std::atomic<bool> both{false};
  runq::go([&] { both = true; }, "first");
  while (!both) std::this_thread::yield();  // waits until the second processor has begun to work
  runq::channel<int> numbers;
  runq::wait_group all;
  all.add(8 + 3 + 2);
  for (int i = 0; i != 8; ++i) {
    runq::go(
        [&] {
          compute(120us);
          all.done();
        },
        "compute");
  }
  for (int i = 0; i != 3; ++i) runq::go(reader(all), "reader");
  runq::go(producer(numbers, all), "producer");
  runq::go(consumer(numbers, all), "consumer");
  co_await all.wait();
  co_await runq::fork(half());
  co_await half();
  co_await runq::join();
}

}  // namespace

int main(int argc, char** argv) {
  const char* file = argc > 1 ? argv[1] : std::getenv("RUNQ_TRACE");
  if (file == nullptr) file = "trace.json";
  setenv("RUNQ_TRACE", file, 1);
  runq::statistics seen;
  {
    runq::scheduler scheduler({.procs = 2});
    scheduler.run(run_main());
    seen = scheduler.stats();
  }  // the scheduler's destructor writes the file
  std::printf("%llu tasks on %u processors, in %s\n", static_cast<unsigned long long>(seen.spawned), seen.procs, file);
}
