// SPDX-License-Identifier: MIT
// Loops that wait by read-modify-writes, and loops that count their rounds.
// check -DTAS: exhaustive
// check -DTAS -DNEVER: FAIL deadlock
// check -DTAS -DRELAXED: FAIL data race
// check -DFLAG: exhaustive
// check -DCAS: passes
// check -DCAS -DRELAXED: FAIL data race
// check -DFETCH_OR: exhaustive
// check -DFENCE: exhaustive
// check -DFENCE -DRELAXED: FAIL data race
// check -DBACKOFF: passes
// check -DBACKOFF -DRELAXED: FAIL data race
// check -DCOUNTING: passes
// check -DCOUNTING -DRELAXED: FAIL data race
// check -DGIVES_UP: passes
// check -DGIVES_UP -DWRONG: FAIL assertion fails: tried
// check -DTRY: passes
#include <atomic>
#include <cassert>
#include <chrono>
#include <thread>

#ifdef RELAXED
constexpr auto acquire = std::memory_order::relaxed;
constexpr auto release = std::memory_order::relaxed;
#else
constexpr auto acquire = std::memory_order::acquire;
constexpr auto release = std::memory_order::release;
#endif
constexpr auto relaxed = std::memory_order::relaxed;

int data;
std::atomic<int> locked{0};
std::atomic_flag flag;
int given_up;

[[maybe_unused]] void relax() { __builtin_ia32_pause(); }

#if defined(TAS)
void lock() {
  while (locked.exchange(1, acquire) != 0) std::this_thread::yield();
}
#elif defined(FLAG)
void lock() {
  while (flag.test_and_set(acquire)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}
#elif defined(CAS)
void lock() {
  int expected = 0;
  while (!locked.compare_exchange_weak(expected, 1, acquire, relaxed)) expected = 0;
}
#elif defined(FETCH_OR)
void lock() {
  while ((locked.fetch_or(1, acquire) & 1) != 0) relax();
}
#elif defined(FENCE)
void lock() {
  while (locked.exchange(1, relaxed) != 0) std::atomic_thread_fence(std::memory_order::seq_cst);
#ifndef RELAXED
  std::atomic_thread_fence(acquire);
#endif
}
#elif defined(BACKOFF)
void lock() {
  for (int wait = 1; locked.exchange(1, acquire) != 0; wait *= 2) {
    for (int i = 0; i < wait; ++i) relax();
  }
}
#elif defined(TRY)
bool lock() {
  for (int tries = 0; tries != 20; ++tries) {
    if (locked.exchange(1, acquire) == 0) return true;
  }
  return false;
}
#else
void lock() {}
#endif

void unlock() {
#ifndef NEVER
  flag.clear(release);
  locked.store(0, release);
#endif
}

int main() {
#if defined(COUNTING) || defined(GIVES_UP)
  static std::atomic<bool> ready{false};
  int tried = 0;
  std::thread waiter([&] {
#ifdef GIVES_UP
    while (tried != 100 && !ready.load(acquire)) ++tried;
    if (tried == 100) given_up = 1;
#else
    long spins = 0;
    while (!ready.load(acquire)) ++spins;
    given_up = spins == -1;
    assert(data == 1);
#endif
  });
  data = 1;
  ready.store(true, release);
  waiter.join();
#ifdef WRONG
  assert(tried < 100);  // the last round is explored, too
#endif
#elif defined(TRY)
  const auto work = [] {
    if (!lock()) return;
    ++data;
    unlock();
  };
  std::thread a(work);
  std::thread b(work);
  a.join();
  b.join();
#else
  const auto work = [] {
    lock();
    ++data;
    unlock();
  };
  std::thread a(work);
  std::thread b(work);
#ifdef TAS
  std::thread c(work);
  c.join();
#else
  ++given_up;
#endif
  a.join();
  b.join();
  assert(data >= 2);
#endif
}
