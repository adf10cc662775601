// SPDX-License-Identifier: MIT
// In which order do tasks run that one task starts? On one processor: the last one first, because it waits in the slot
// for the next task, and the others, which were each pushed out of it, in the order of their start.
#include <cstdio>

#include <runq/runq.hpp>

runq::task<> start_ten() {
  runq::wait_group group;
  group.add(10);
  for (int i = 0; i != 10; ++i) {
    runq::go([&group, i] {
      std::printf("%d ", i);
      group.done();
    });
  }
  co_await group.wait();
  std::printf("\n");
}

int main() {
  std::printf("one processor: ");
  runq::run(start_ten(), {.procs = 1});
}
