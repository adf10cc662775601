// SPDX-License-Identifier: MIT
// Load buffering where the write depends on the read: the threads cannot both read 1. The checker tries executions that
// turn out to be impossible; a failure in such an attempt is not reported.
// check --load-buffering -DCRASHES: exhaustive, 2 executions
// check --load-buffering -DSTORES_WHAT_IT_READ: exhaustive, 2 executions
// check --load-buffering -DTHROWS: exhaustive, 2 executions
// check --load-buffering: FAIL assertion fails: kept == 0
#include <atomic>
#include <cassert>
#include <thread>

constexpr auto relaxed = std::memory_order::relaxed;
std::atomic<int> x{0}, y{0};
int kept = 0;

int main() {
  std::thread one([] {
    const int a = x.load(relaxed);
#if defined(CRASHES)
    if (a == 1) *static_cast<volatile int*>(nullptr) = 1;
    y.store(1, relaxed);
#elif defined(STORES_WHAT_IT_READ)
    kept = a;
    y.store(kept, relaxed);
#elif defined(THROWS)
    if (a == 1) throw a;
    y.store(1, relaxed);
#else
    kept = a;
    y.store(1, relaxed);
#endif
  });
  std::thread two([] {
    const int b = y.load(relaxed);
    if (b == 1) x.store(1, relaxed);
  });
  one.join();
  two.join();
  assert(kept == 0);
}
