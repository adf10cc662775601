// SPDX-License-Identifier: MIT
// Loops that wait, and loops that count their rounds.
// Each program has a macro, which stands first in its lines `// check`. The last program has none.
#include <atomic>
#include <cassert>
#include <chrono>
#include <thread>

#if defined(COUNTED)

// A loop that reads the same value a fixed number of times. What follows it is explored if the rounds are few enough.
// check -DCOUNTED -DROUNDS=200: FAIL assertion
// check -DCOUNTED -DROUNDS=300: bounded; unless it ends within 4 rounds or by its count within 256 reads
// check -DCOUNTED -DROUNDS=300 --every-iteration: FAIL assertion
// check -DCOUNTED -DROUNDS=6 -DALWAYS -DNEW_VALUES: FAIL assertion
// check -DCOUNTED -DROUNDS=6 -DALWAYS -DNEW_VALUES --rounds 3: bounded; unless it ends within 3 rounds
// check -DCOUNTED -DROUNDS=300 -DALWAYS: a loop that waits and counts unless it ends within 4 rounds

std::atomic<int> flag{0};
std::atomic<int> value{0};

// Not inlined: a compiler that unrolls the loop would make several reads of one.
[[gnu::noinline]] int look() { return value.load(std::memory_order::relaxed); }

int main() {
  std::thread other([] {
    flag.store(1, std::memory_order::relaxed);
#ifdef NEW_VALUES
    value.store(1, std::memory_order::relaxed);
    value.store(2, std::memory_order::relaxed);
#endif
  });
#if !defined(ALWAYS)
  if (flag.load(std::memory_order::relaxed) == 1)
#endif
  {
#ifdef NEW_VALUES
    // Rounds are counted from the first one that reads a value: four of them may read 1 after two have read 0.
    int seen = 0;
    for (int i = 0; i != ROUNDS; ++i) seen = 10 * seen + look();
    assert(seen != 1112);
#else
    int sum = 0;
    for (int i = 0; i != ROUNDS; ++i) sum += look();
    assert(sum == 1);
#endif
  }
  other.join();
}

#elif defined(READS)

// Loops that wait by reading.
// check -DREADS: passes
// check -DREADS -DNEVER: FAIL
// check -DREADS -DRELAXED: FAIL data race
// check -DREADS -DTICKET: passes
// check -DREADS -DTICKET -DNEVER: FAIL deadlock
// check -DREADS -DPETERSON: passes
// check -DREADS -DPETERSON -DRELAXED: FAIL data race
// check -DREADS -DTTAS: passes
// check -DREADS -DTTAS -DNEVER: FAIL deadlock
// check -DREADS -DCOUNTING: passes

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

#else

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

#endif
