// SPDX-License-Identifier: MIT
// Programs that use something that is not modelled get no verdict: the answer names it.
// check -DRANDOM: no verdict: not modelled: rand(), at refused.cpp:
// check -DDEVICE: no verdict: not modelled: std::random_device, whose numbers are never the same, at refused.cpp:
// check -DLARGE: no verdict: not modelled: an atomic variable that needs a lock, by __atomic_load(), at refused.cpp:
// check -DSIZES: passes
// check -DSIGNALS: no verdict: not modelled: raise(), at refused.cpp:
// check -DTIMER: no verdict: not modelled: timer_create(), at refused.cpp:
// check -DSTACKS: no verdict: not modelled: makecontext(), at refused.cpp:
// check -DANOTHER_PROGRAM: no verdict: not modelled: execl(), at refused.cpp:
// check -DTHREADS: no verdict: limit reached: 14 threads
// check -DENDLESS: no verdict: limit reached: --max-events 2000
// check alone -DEARLY: not modelled: threads that are started before main()
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <random>
#include <thread>

#include <ucontext.h>
#include <unistd.h>

#ifdef EARLY
std::thread early([] {});
#endif
std::atomic<int> counter{0};

int main() {
#if defined(RANDOM)
  return std::rand() == 0 ? 1 : 0;
#elif defined(DEVICE)
  return std::random_device{}() == 0 ? 1 : 0;
#elif defined(LARGE)
  struct three {
    long a, b, c;
  };
  static std::atomic<three> large;
  return large.load().a == 0 ? 0 : 1;
#elif defined(SIZES)
  static std::uint64_t both = 0;
  __atomic_store_n(&both, 1, __ATOMIC_RELAXED);
  return static_cast<int>(__atomic_load_n(reinterpret_cast<std::uint32_t*>(&both), __ATOMIC_RELAXED)) - 1;
#elif defined(SIGNALS)
  std::raise(SIGTERM);
#elif defined(TIMER)
  timer_t timer;
  timer_create(CLOCK_MONOTONIC, nullptr, &timer);
#elif defined(STACKS)
  static ucontext_t context;
  makecontext(
      &context, [] {}, 0);
#elif defined(ANOTHER_PROGRAM)
  execl("/bin/true", "true", nullptr);
#elif defined(THREADS)
  std::thread all[14];
  for (std::thread& t : all) t = std::thread([] {});
  for (std::thread& t : all) t.join();
#elif defined(ENDLESS)
  while (counter.fetch_add(1) != -1) continue;
#endif
}
