// SPDX-License-Identifier: MIT
// ring: one thread makes work, another takes half of what is there, again and again.
#include <array>
#include <atomic>
#include <cstdio>
#include <thread>

#include <runq/ring.hpp>

struct task {
  int times_run = 0;
};

int main() {
  std::array<task, 10'000> tasks;
  std::atomic<std::size_t> left = tasks.size();
  const auto run = [&left](task* t) { ++t->times_run, --left; };
  runq::ring<task*> busy;
  runq::ring<task*> idle;

  std::thread helper([&, victim = busy.make_thief(), mine = idle.make_owner()]() mutable {
    while (left != 0) {
      if (const auto loot = victim.steal_half_into(mine)) {
        run(loot.value);                      // the newest of the batch, to be run at once;
        while (auto t = mine.pop()) run(*t);  // the others are in our own ring now
      } else {
        std::this_thread::yield();  // empty, or another thread was quicker: loot.status tells
      }
    }
  });
  auto owner = busy.make_owner();
  for (task& t : tasks) {
    if (!owner.push(&t)) run(&t);  // full
  }
  helper.join();
  for (const task& t : tasks) {
    if (t.times_run != 1) return 1;
  }
  std::printf("%zu tasks, each run once\n", tasks.size());
}
