// SPDX-License-Identifier: MIT
// In which order do ten tasks run that one task starts? On one processor the last one runs first, because it waits in
// the slot for the next task (runnext). The others follow in the order of their start. Each was pushed out of the slot
// by the next one, into a queue that is first in, first out.
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
  std::printf("ten tasks started as 0 1 2 ... 9, on one processor, run in this order: ");
  runq::run(start_ten(), {.procs = 1});
  std::printf(
      "9 was started last and waits in runnext, the slot for the next task, which is asked first.\n"
      "0 to 8 were pushed out of that slot one by one, into a queue: first in, first out.\n");
}
