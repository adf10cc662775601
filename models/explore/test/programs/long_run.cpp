// SPDX-License-Identifier: MIT
// A long run is none that does not end: as long as variables get other values, it may go on. failures_test.py explores
// it with few --max-steps.
//
// check: none fails
// check -DWRONG: FAIL livelock
#include <atomic>
#include <thread>

std::atomic<long> counter{0};
std::atomic<bool> never{false};

int main() {
  const auto add = [] {
    for (int i = 0; i != 20'000; ++i) counter.fetch_add(1, std::memory_order::relaxed);
  };
  std::thread other(add);
  add();
#ifdef WRONG
  while (!never.load(std::memory_order::relaxed)) {
  }
#endif
  other.join();
}
