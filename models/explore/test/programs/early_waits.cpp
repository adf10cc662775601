// SPDX-License-Identifier: MIT
// Threads that nobody wakes, and many steps after they have begun to wait: failures_test.py reads what is said of them.
//
// check: FAIL deadlock
#include <atomic>
#include <mutex>
#include <thread>

std::atomic<int> asleep{0};
std::atomic<int> counter{0};
std::mutex first;
std::mutex second;

int main() {
  const std::lock_guard held(first);
  const std::lock_guard also_held(second);
  std::thread a([] {
    asleep.fetch_add(1, std::memory_order::relaxed);
    first.lock();
  });
  std::thread b([] {
    asleep.fetch_add(1, std::memory_order::relaxed);
    second.lock();
  });
  while (asleep.load(std::memory_order::relaxed) != 2) std::this_thread::yield();
  for (int i = 0; i != 10'000; ++i) counter.fetch_add(1, std::memory_order::relaxed);
  a.join();
  b.join();
}
