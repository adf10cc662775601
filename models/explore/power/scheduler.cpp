// SPDX-License-Identifier: MIT
// An ordinary program over the scheduler, whose argument names the mutant of its headers that runs: tasks that start
// each other, a mutex, a channel, and turns that tasks give away, twice, so that machines go to sleep and wake up
// between.
#include <cstdint>

#include "runq/runq.hpp"
#include "variant.hpp"

#undef NDEBUG
#include <cassert>

std::uint64_t runq::model::chosen_mutant = 0;

namespace {

runq::task<> round() {
  runq::mutex mutex;
  runq::channel<int> results(0);
  int sum = 0;
  for (int i = 1; i != 4; ++i) {
    runq::go([&, i]() -> runq::task<> {
      co_await mutex.lock();
      sum += i;
      static_cast<void>(mutex.unlock());
      co_await runq::yield();
      co_await results.send(i);
    });
  }
  int received = 0;
  for (int i = 1; i != 4; ++i) received += (co_await results.receive()).value_or(0);
  assert(received == 6 && sum == 6);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) runq::model::chosen_mutant = runq::model::mutant_number(argv[1]);
  runq::scheduler s({.procs = 2});
  for (int i = 0; i != 2; ++i) s.run(round);
}
