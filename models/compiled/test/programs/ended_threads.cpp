// SPDX-License-Identifier: MIT
// A thread that has ended and is not joined is still beside the others. A wait undoes nothing that its thread did
// before.
// check: passes
// check -DRELAXED: FAIL assertion
// check -DPOLLED: passes
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

#ifdef POLLED
std::mutex m;
bool ready = false;
std::atomic<bool> done{false};

int main() {
  std::thread setter([] {
    {
      const std::lock_guard lock(m);
      ready = true;
    }
    while (!done.load(std::memory_order::acquire)) {
    }
  });
  for (bool seen = false; !seen;) {
    const std::lock_guard lock(m);
    seen = ready;
  }
  done.store(true, std::memory_order::release);
  setter.join();
}
#else
#ifdef RELAXED
constexpr auto order = std::memory_order::relaxed;
#else
constexpr auto order = std::memory_order::seq_cst;
#endif
std::atomic<int> x{0};
std::atomic<int> y{0};
int seen_by_first = 0;

int main() {
  std::thread first([] {
    x.store(1, order);
    seen_by_first = y.load(order);
  });
  // The search comes to main's accesses when both threads have ended.
  std::thread second([] {});
  second.join();
  y.store(1, order);
  const int seen = x.load(order);
  first.join();
  assert(seen == 1 || seen_by_first == 1);
}
#endif
