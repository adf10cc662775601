// SPDX-License-Identifier: MIT
// One leaf in a tree of scopes fails: the scopes ask the other leaves to stop, and all of them end before the root
// continues.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <stdexcept>

#include <runq/runq.hpp>

using namespace std::chrono_literals;

namespace {

constexpr int leaves = 27;

/// How many leaves have begun, were asked to stop, and have ended.
struct counts {
  std::atomic<int> began{0};
  std::atomic<int> stopped{0};
  std::atomic<int> ended{0};
};

void compute(std::chrono::microseconds time) {
  const auto end = runq::clock::now() + time;
  while (runq::clock::now() < end) runq::std_atomics::pause();
}

runq::task<> leaf(int number, std::stop_token stop, counts& seen) {
  ++seen.began;
  compute(20us);
  if (number == 13) {
    while (seen.began != leaves) co_await runq::yield();
    ++seen.ended;
    throw std::runtime_error("leaf 13 has failed");
  }
  co_await runq::select(stop);  // waits until the scope requests a stop
  compute(20us);
  ++seen.stopped;
  ++seen.ended;
}

// Runs the leaves first … first + size - 1 in a scope with three subtrees, each a scope of its own. `outer` asks all of
// them to stop.
runq::task<> tree(int first, int size, std::stop_token outer, counts& seen) {
  if (size == 1) {
    co_await leaf(first, outer, seen);
    co_return;
  }
  co_await runq::with_scope(
      [&](runq::scope& s) -> runq::task<> {
        for (int part = 0; part != 3; ++part) {
          co_await s.fork(tree(first + part * size / 3, size / 3, s.stop_token(), seen));
        }
      },
      outer);
}

runq::task<> run_main() {
  counts seen;
  try {
    co_await tree(0, leaves, {}, seen);
  } catch (const std::exception& failure) {
    std::printf("the tree has thrown: %s\n", failure.what());
  }
  std::printf("%d leaves began, %d were asked to stop, %d ended\n", seen.began.load(), seen.stopped.load(),
              seen.ended.load());
}

}  // namespace

int main() { runq::run(run_main(), {.procs = 2}); }
