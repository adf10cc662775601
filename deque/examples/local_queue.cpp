// SPDX-License-Identifier: MIT
// local_queue: what each processor of a scheduler owns; two of them, and the global queue that catches the overflow.
#include <array>
#include <cstdio>

#include <runq/local_queue.hpp>

struct task {
  runq::inject_link<task> link{};
};

int main() {
  std::array<task, 258> tasks;
  runq::inject<&task::link> global;
  runq::local_queue<&task::link> first(global);
  runq::local_queue<&task::link> second(global);
  auto mine = first.make_owner();
  auto theirs = second.make_owner();

  for (std::size_t i = 0; i != 257; ++i) mine.push_next(&tasks[i]);  // 1 runs next, 256 fill the ring
  if (mine.size_approx() != 256 || global.has_work()) return 1;
  const auto moved = mine.push_next(&tasks[257]);  // one too many: the 128 oldest and the displaced one must go
  if (moved != 129 || global.size_approx() != 129) return 1;
  const auto next = mine.pop();
  if (next.task != &tasks[257] || !next.from_runnext) return 1;  // the newest first

  const auto loot = theirs.steal_from(first.make_thief());  // half of the ring
  if (loot.count != 64 || theirs.size_approx() != 63) return 1;

  std::size_t left = 1 + loot.count;  // the two in hand, and the 63
  while (mine.pop()) ++left;
  while (global.take() != nullptr) ++left;
  while (theirs.pop()) continue;
  std::printf("%zu tasks: 129 overflowed, %zu stolen\n", left, loot.count);
  return left == tasks.size() ? 0 : 1;
}
