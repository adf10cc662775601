// SPDX-License-Identifier: MIT
// Two threads read for long, and then each adds to a number by a load and a store: an update is lost only if a thread
// is stopped at one of some thousand steps. For power_test.py, too.
//
// check -DWRONG: FAIL assertion fails: n.load(relaxed) == 2
// check: none fails
#include <atomic>
#include <cassert>
#include <thread>

constexpr auto relaxed = std::memory_order::relaxed;
std::atomic<int> looked_at{0};
std::atomic<int> n{0};

void add(int looks) {
  for (int i = 0; i != looks; ++i) static_cast<void>(looked_at.load(relaxed));
#if defined(WRONG)
  n.store(n.load(relaxed) + 1, relaxed);
#else
  n.fetch_add(1, relaxed);
#endif
}

int main() {
  std::thread one([] { add(3000); });
  std::thread other([] { add(100); });
  one.join();
  other.join();
  assert(n.load(relaxed) == 2);
}
