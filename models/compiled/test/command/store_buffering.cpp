// SPDX-License-Identifier: MIT
// Three executions. A weaker order allows a fourth, which is no failure.
#include <atomic>
#include <thread>

std::atomic<int> x{0}, y{0};
std::atomic<int> seen;

int main() {
  std::thread other([] {
    x.store(1);
    seen.store(y.load(), std::memory_order::relaxed);
  });
  y.store(1);
  static_cast<void>(x.load());
  other.join();
}
