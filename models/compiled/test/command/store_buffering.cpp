// SPDX-License-Identifier: MIT
// Three executions; a fourth with a weaker order, which is no failure.
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
