// SPDX-License-Identifier: MIT
// What is not modelled is named.
// check -DCLOCK: no verdict: not modelled: clock_gettime(), at refused.cpp:
// check -DSIZES: no verdict: not modelled: atomic operations of different sizes on the same memory, at refused.cpp:
// check -DSHARED: no verdict: not modelled: pthread_rwlock_
// check -DRECURSIVE: no verdict: not modelled: recursive mutexes, at refused.cpp:
// check -DTHREADS: no verdict: limit reached: 14 threads
// check -DENDLESS: no verdict: limit reached: max_events_per_thread = 2000
// check -DEARLY: not modelled: threads that are started before main()
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <thread>

#ifdef EARLY
std::thread early([] {});
#endif
std::atomic<int> counter{0};

int main() {
#if defined(CLOCK)
  return std::chrono::steady_clock::now().time_since_epoch().count() == 0 ? 1 : 0;
#elif defined(SIZES)
  static std::uint64_t both = 0;
  __atomic_store_n(&both, 1, __ATOMIC_RELAXED);
  return static_cast<int>(__atomic_load_n(reinterpret_cast<std::uint32_t*>(&both), __ATOMIC_RELAXED)) - 1;
#elif defined(SHARED)
  std::shared_mutex m;
  m.lock_shared();
#elif defined(RECURSIVE)
  std::recursive_mutex m;
  m.lock();
#elif defined(THREADS)
  std::thread all[14];
  for (std::thread& t : all) t = std::thread([] {});
  for (std::thread& t : all) t.join();
#elif defined(ENDLESS)
  while (counter.fetch_add(1) != -1) continue;
#endif
}
