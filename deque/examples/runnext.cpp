// SPDX-License-Identifier: MIT
// runnext: the task that was made runnable last goes first, while its data is in this core's cache.
#include <cstdio>

#include <runq/runnext.hpp>

int main() {
  const char* reader = "reader";
  const char* writer = "writer";
  runq::runnext<const char*> slot;
  auto owner = slot.make_owner();

  if (owner.put(reader)) return 1;                   // the slot was empty: nothing is displaced
  const auto displaced = owner.put(writer);          // the newer task goes first,
  if (!displaced || *displaced != reader) return 1;  // and the older one is handed back, to be queued elsewhere

  // Another thread may take it, but waits a moment first: the owner usually is about to run it.
  const auto loot = slot.make_thief().steal();
  if (!loot || loot.value != writer) return 1;
  if (owner.take()) return 1;  // so it is gone
  std::printf("%s was displaced, %s was stolen\n", *displaced, loot.value);
}
