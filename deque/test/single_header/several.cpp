// SPDX-License-Identifier: MIT
// This file includes two single headers that share some parts. Another file of the same program, all.cpp, includes
// runq_all.hpp.
#include "runq_ring.hpp"
// This comment keeps clang-format from sorting the two lines: the header with fewer parts must come first.
#include "runq_local_queue.hpp"

struct task {
  runq::inject_link<task> link{};
};

int sum_by_chase_lev(int up_to);

int main() {
  runq::ring<int> busy;
  runq::ring<int> idle;
  auto owner = busy.make_owner();
  auto thief = idle.make_owner();
  bool right = owner.push(1) && owner.push(2) && owner.push(3);
  const auto loot = busy.make_thief().steal_half_into(thief);
  right = right && loot && loot.value == 2 && thief.pop() == 1 && owner.pop() == 3;

  runq::inject<&task::link> global;
  runq::local_queue<&task::link> queue(global);
  auto mine = queue.make_owner();
  task a;
  task b;
  mine.push(&a);
  mine.push_next(&b);
  right = right && mine.pop().task == &b && mine.pop().task == &a;
  return right && sum_by_chase_lev(100) == 5050 ? 0 : 1;
}
