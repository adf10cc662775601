// SPDX-License-Identifier: MIT
// The owner of a ring pushes and pops while a thief takes half into a ring of its own: each task is run once, and
// whoever runs it sees what was written before it was pushed.
//
// check: exhaustive
// check MUTANT=ring/publish_before_slot: FAIL
// check MUTANT=ring/claim_one_more: FAIL assertion fails
#include <array>
#include <optional>
#include <thread>

#include <runq/ring.hpp>

#undef NDEBUG
#include <cassert>

struct task {
  int runs = 0;
};

int main() {
  std::array<task, 3> tasks{};
  const auto run = [](task* t) { assert(++t->runs == 1); };
  runq::basic_ring<task*, 4> busy;
  runq::basic_ring<task*, 4> idle;
  auto owner = busy.make_owner();
  std::thread helper([&, victim = busy.make_thief(), mine = idle.make_owner()]() mutable {
    if (const auto loot = victim.steal_half_into(mine)) {
      run(loot.value);
      while (const std::optional<task*> t = mine.pop()) run(*t);
    }
  });
  for (task& t : tasks) assert(owner.push(&t));
  while (const std::optional<task*> t = owner.pop()) run(*t);
  helper.join();
  for (const task& t : tasks) assert(t.runs == 1);
}
