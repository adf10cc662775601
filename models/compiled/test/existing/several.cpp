// SPDX-License-Identifier: MIT
// Several failures, some of which hide others: two assertions, a race, a deadlock, a leak. With RIGHT there is none.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

std::atomic<int> x{0}, y{0};
std::mutex first, second;
int plain;

int main() {
  std::thread a([] {
    x.store(1, std::memory_order::relaxed);
#if !defined(RIGHT)
    assert(y.load(std::memory_order::relaxed) == 0);  // one
#endif
    const std::lock_guard l(first);
    const std::lock_guard m(second);
    plain = 1;
  });
  std::thread b([] {
    y.store(1, std::memory_order::relaxed);
#if !defined(RIGHT)
    assert(x.load(std::memory_order::relaxed) == 0);  // other
    {
      const std::lock_guard m(second);
      const std::lock_guard l(first);
    }
    plain = 2;  // race
#endif
  });
  a.join();
  b.join();
#if !defined(RIGHT)
  int* volatile lost = new int(plain);
  lost = nullptr;
#endif
}
