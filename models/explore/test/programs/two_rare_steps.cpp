// SPDX-License-Identifier: MIT
// Two threads add to a number by a load and a store, in each of two rooms. An update must be lost in the first room, so
// that the second one opens, and then another one there. Each is rare: the threads look around for long before.
// For power_test.py, too.
//
// check -DWRONG: FAIL assertion fails: second.load(relaxed) == 2
// check: none fails
#include <atomic>
#include <cassert>
#include <thread>

constexpr auto relaxed = std::memory_order::relaxed;
std::atomic<int> looked_at{0};
std::atomic<int> first{0};
std::atomic<int> second{0};
std::atomic<int> arrived{0};

void look_around(int looks) {
  for (int i = 0; i != looks; ++i) static_cast<void>(looked_at.load(relaxed));
}

void meet(int all) {
  arrived.fetch_add(1, std::memory_order::acq_rel);
  while (arrived.load(std::memory_order::acquire) < all) std::this_thread::yield();
}

void add(int looks) {
  look_around(looks);
  first.store(first.load(relaxed) + 1, relaxed);
  meet(2);
  if (first.load(relaxed) == 2) return;
  look_around(looks);
#if defined(WRONG)
  second.store(second.load(relaxed) + 1, relaxed);
#else
  second.fetch_add(1, relaxed);
#endif
  meet(4);
  assert(second.load(relaxed) == 2);
}

int main() {
  std::thread one([] { add(200); });
  std::thread other([] { add(20); });
  one.join();
  other.join();
}
