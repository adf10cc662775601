// SPDX-License-Identifier: MIT
// Two thieves steal, of whom one is the owner's thread, while the owner pushes until a slot is used again.
#include <algorithm>
#include <cassert>
#include <thread>

#include "deque.hpp"

int main() {
  deque::Deque<int> jobs;  // of 16 slots
  for (int job = 0; job < 14; ++job) jobs.push_bottom(job);
  std::thread thief([&jobs] {
    const auto stolen = jobs.steal();
    assert(!stolen || *stolen < 2);
  });
  const auto stolen = jobs.steal();
  assert(!stolen || *stolen < 2);
  if (stolen && *stolen == 1) {  // the thief has taken the first one
    for (int job = 14; job < 17; ++job) jobs.push_bottom(job);
  }
  thief.join();
}
