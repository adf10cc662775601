// SPDX-License-Identifier: MIT
// Atomic structures whose memory orders are known only at run time. clang calls libatomic for them.
// check -DFORM=1: passes, 2 executions
// check -DFORM=2: FAIL data race
// check -DFORM=3: passes, 4 executions
// check -DFORM=4: no verdict: not modelled: an atomic variable that needs a lock
#include <atomic>
#include <cassert>
#include <thread>

struct pair {
  int a, b;
};
struct shorts {
  short a, b;
};
struct three {
  char bytes[3];
};

std::atomic<pair> both{pair{0, 0}};
std::atomic<shorts> counters{shorts{0, 0}};
std::atomic<three> large;
int data;

[[gnu::noinline]] void put(pair value, std::memory_order order) { both.store(value, order); }
[[gnu::noinline]] pair get(std::memory_order order) { return both.load(order); }
[[gnu::noinline]] void count(std::memory_order order) {
  shorts seen = counters.load();
  while (!counters.compare_exchange_strong(seen, shorts{short(seen.a + 1), short(seen.b + 1)}, order)) continue;
}

int main() {
  volatile bool weak = FORM == 2;
#if FORM < 3
  const std::memory_order order = weak ? std::memory_order_relaxed : std::memory_order_release;
  std::thread writer([order] {
    data = 1;
    put({1, 2}, order);
  });
  const pair seen = get(std::memory_order_acquire);
  assert(seen.b == 2 * seen.a);
  if (seen.a == 1) assert(data == 1);
  writer.join();
  const pair before = both.exchange({3, 4});
  assert(before.b == 2);
#elif FORM == 3
  std::thread other(count, std::memory_order_relaxed);
  count(weak ? std::memory_order_relaxed : std::memory_order_acq_rel);
  other.join();
  assert(counters.load().a == 2 && counters.load().b == 2);
#elif FORM == 4
  std::thread writer([] { large.store(three{{1, 2, 3}}); });
  (void)large.load();
  writer.join();
#endif
  return weak ? 0 : 0;
}
