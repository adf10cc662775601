// SPDX-License-Identifier: MIT
// A long run is none that does not end: as long as variables get other values, it may go on. With -DWRONG it does not
// end. failures_test.py explores both with few --max-steps.
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
