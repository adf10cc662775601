// SPDX-License-Identifier: MIT
// A first program of a user. It must build with every way to add the library to a project.
#include <optional>

#include <runq/inject.hpp>
#include <runq/local_queue.hpp>
#include <runq/ring.hpp>
#include <runq/runnext.hpp>

struct task {
  int id = 0;
  runq::inject_link<task> link{};
};

int main() {
  runq::inject<&task::link> global;
  runq::local_queue<&task::link> queue(global);
  auto owner = queue.make_owner();
  task a{.id = 1};
  task b{.id = 2};
  owner.push(&a);
  owner.push_next(&b);
  const bool newest_first = owner.pop().task == &b && owner.pop().task == &a;

  runq::ring<task*> mine;
  runq::ring<task*> theirs;
  auto victim = theirs.make_owner();
  auto thief = mine.make_owner();
  const bool pushed = victim.push(&a);
  const auto loot = theirs.make_thief().steal_half_into(thief);
  return newest_first && pushed && loot && loot.value->id == 1 ? 0 : 1;
}
