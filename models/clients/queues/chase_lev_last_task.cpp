// SPDX-License-Identifier: MIT
// The owner of a deque pops while a thief steals: of two tasks each is run once, also the last one, which both want.
//
// check: exhaustive
// check MUTANT=chase_lev/last_without_claim: FAIL assertion fails
#include <array>
#include <atomic>
#include <optional>
#include <thread>

#include <runq/chase_lev.hpp>

#undef NDEBUG
#include <cassert>

int main() {
  std::array<std::atomic<int>, 2> runs{};
  const auto run = [&runs](std::size_t task) { assert(runs.at(task).fetch_add(1, std::memory_order::relaxed) == 0); };
  runq::chase_lev<std::size_t> deque(2);
  auto owner = deque.make_owner();
  assert(owner.push(0) && owner.push(1));
  std::thread thief([&run, from = deque.make_thief()] {
    if (const auto loot = from.steal()) run(loot.value);
  });
  while (const std::optional<std::size_t> task = owner.pop()) run(*task);
  thief.join();
  for (const auto& times : runs) assert(times == 1);
}
