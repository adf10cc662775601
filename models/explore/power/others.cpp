// SPDX-License-Identifier: MIT
// Wrong programs that the textbook does not have; a macro chooses one of them.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>

#include "runq/eventcount.hpp"

namespace {

constexpr auto relaxed = std::memory_order::relaxed;

#if defined(PUBLICATION)
std::atomic<int*> published{nullptr};

void run() {
  std::thread writer([] { published.store(new int(1), relaxed); });
  int* seen = nullptr;
  while ((seen = published.load(relaxed)) == nullptr) std::this_thread::yield();
  assert(*seen == 1);
  writer.join();
}

#elif defined(EVENTCOUNT)
/// Its fences order nothing that matters here.
struct without_fences : runq::std_atomics {
  static void light_fence(std::memory_order) noexcept { std::atomic_thread_fence(std::memory_order::acq_rel); }
  static void heavy_fence(std::memory_order) noexcept { std::atomic_thread_fence(std::memory_order::acq_rel); }
};
runq::basic_eventcount<without_fences> sleepers;
std::atomic<bool> is_there{false};

void run() {
  std::thread waiting([] { sleepers.await([] { return is_there.load(relaxed); }); });
  is_there.store(true, relaxed);
  sleepers.notify_all();
  waiting.join();
}

#elif defined(SEQLOCK)
std::atomic<unsigned> number{0};
std::atomic<int> first{0};
std::atomic<int> second{0};

void run() {
  std::thread writer([] {
    for (int i = 1; i != 5; ++i) {
      number.store(number.load(relaxed) + 1, relaxed);
      std::atomic_thread_fence(std::memory_order::release);
      first.store(i, relaxed);
      second.store(i, relaxed);
      number.store(number.load(relaxed) + 1, std::memory_order::release);
    }
  });
  for (int i = 0; i != 4; ++i) {
    const unsigned before = number.load(std::memory_order::acquire);
    const int a = first.load(relaxed);
    const int b = second.load(relaxed);
    if (before % 2 == 0 && number.load(relaxed) == before) assert(a == b);  // an acquire fence is missing before
  }
  writer.join();
}

#elif defined(THREE_LOCKS)
std::mutex locks[3];

void run() {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i != 3; ++i) {
    threads.emplace_back([i] {
      const std::lock_guard one(locks[i]);
      const std::lock_guard other(locks[(i + 1) % 3]);
    });
  }
  for (std::thread& t : threads) t.join();
}

#elif defined(SIX_THREADS)
std::atomic<int> stage{0};
std::atomic<int> noise{0};

/// Only if each of three threads comes just after the one before.
void run() {
  std::vector<std::thread> threads;
  for (int i = 0; i != 3; ++i) {
    threads.emplace_back([i] {
      int expected = i;
      stage.compare_exchange_strong(expected, i + 1);
    });
  }
  for (int i = 0; i != 3; ++i) threads.emplace_back([] { ++noise; });
  for (std::thread& t : threads) t.join();
  assert(stage != 3);
}

#elif defined(TRY_LOCK)
std::mutex m;
int done = 0;

/// Whoever does not get the lock forgets to do its work later.
void run() {
  const auto work = [] {
    const std::unique_lock lock(m, std::try_to_lock);
    if (lock) ++done;
  };
  std::thread other(work);
  work();
  other.join();
  assert(done == 2);
}
#endif

}  // namespace

int main() { run(); }
