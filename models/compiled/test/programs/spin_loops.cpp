// SPDX-License-Identifier: MIT
// Loops that wait by reading.
// check: passes
// check -DNEVER: FAIL
// check -DRELAXED: FAIL data race
// check -DTICKET: passes
// check -DTICKET -DNEVER: FAIL deadlock
// check -DPETERSON: passes
// check -DPETERSON -DRELAXED: FAIL data race
// check -DTTAS: passes
// check -DTTAS -DNEVER: FAIL deadlock
// check -DCOUNTING: passes
#include <atomic>
#include <cassert>
#include <thread>

#ifdef RELAXED
constexpr auto acquire = std::memory_order::relaxed;
constexpr auto release = std::memory_order::relaxed;
constexpr auto strongest = std::memory_order::relaxed;
#else
constexpr auto acquire = std::memory_order::acquire;
constexpr auto release = std::memory_order::release;
constexpr auto strongest = std::memory_order::seq_cst;
#endif

int data;

#if defined(TICKET)
std::atomic<unsigned> next{0}, serving{0};
void lock(int) {
  const unsigned mine = next.fetch_add(1, std::memory_order::relaxed);
  while (serving.load(acquire) != mine) std::this_thread::yield();
}
void unlock(int) {
#ifndef NEVER
  serving.store(serving.load(std::memory_order::relaxed) + 1, release);
#endif
}
#elif defined(PETERSON)
std::atomic<bool> wants[2];
std::atomic<int> turn{0};
void lock(int me) {
  wants[me].store(true, strongest);
  turn.store(1 - me, strongest);
  while (wants[1 - me].load(strongest) && turn.load(strongest) == 1 - me) continue;
}
void unlock(int me) { wants[me].store(false, release); }
#else
std::atomic<int> locked{0};
void lock(int) {
  for (;;) {
    while (locked.load(std::memory_order::relaxed) != 0) continue;
    int expected = 0;
    if (locked.compare_exchange_strong(expected, 1, acquire, std::memory_order::relaxed)) return;
  }
}
void unlock(int) {
#ifndef NEVER
  locked.store(0, release);
#endif
}
#endif

int main() {
#if defined(TICKET) || defined(PETERSON) || defined(TTAS)
  const auto work = [](int i) {
    lock(i);
    ++data;
    unlock(i);
  };
  std::thread a(work, 0);
  std::thread b(work, 1);
  a.join();
  b.join();
  assert(data == 2);
#else
  static std::atomic<bool> ready{false};
  std::thread waiter([] {
#ifdef COUNTING
    volatile int spins = 0;
    while (!ready.load(acquire)) spins = spins + 1;
#else
    while (!ready.load(acquire)) continue;
#endif
    assert(data == 1);
  });
  data = 1;
#ifndef NEVER
  ready.store(true, release);
#endif
  waiter.join();
#endif
}
