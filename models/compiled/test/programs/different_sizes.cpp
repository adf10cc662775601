// SPDX-License-Identifier: MIT
// Atomic operations of different sizes on the same memory.
// check -DFLAGS: bounded; accessed in different sizes at different_sizes.cpp:
// check -DFLAGS -DRELAXED: FAIL data race
// check -DOTHER_BYTE: bounded
// check -DSAME_BYTE: FAIL data race
// check -DCONTINUED: bounded
// check -DACQUIRED_BY_STORE: FAIL data race
// check -DCOUNTERS: bounded
// check -DCOUNTERS -DHALVES: FAIL check failed
// check -DTICKETS: bounded
// check -DTICKETS -DRELAXED: FAIL data race
// check -DUPDATE: bounded
// check -DUPDATE -DLOSES: FAIL check failed
// check -DSWAPPED: bounded
// check -DSWAPPED -DWRONG: FAIL check failed
// check -DLOWER: bounded
// check -DLOWER -DWRONG: FAIL check failed
// check -DDEKKER: bounded
// check -DDEKKER -DRELAXED: FAIL check failed
// check -DNEVER_SET: FAIL deadlock
// check -DPLAIN_BESIDE: no verdict: not modelled: a write that is not atomic to a part of memory
// check -DPLAIN_BESIDE -DFIRST: no verdict: not modelled: a write that is not atomic to a part of memory
// check -DPLAIN_WITHIN: FAIL data race
// check -DPLAIN_BEFORE: bounded
// check -DPLAIN_BEFORE -DWRONG: FAIL check failed
// check -DLATE: bounded
// check -DLATE -DRELAXED: FAIL data race
// check --all-failures 2 -DLATE -DRELAXED: FAIL 1 different failure
// check -DON_A_STACK: FAIL check failed
// check -DLOCK=int: bounded; on the memory of a lock tell of its state, and change of it (at
// check -DLOCK=int -DFIRST: bounded; on the memory of a lock tell of its state, and change of it (at
// check -DLOCK=long: bounded
// check -DLOCK=long -DFIRST: bounded
// check -DLOCK=long -DWRONG: FAIL data race
// check --all-failures 2 -DLOCK=long -DWRONG: FAIL 1 different failure
// check -DSEMAPHORE=int: bounded; on the memory of a lock tell of its state, and change of it (at
// check -DSEMAPHORE=long: bounded; on the memory of a lock tell of its state, and change of it (at
// check -DSEMAPHORE=long -DFIRST: bounded; on the memory of a lock tell of its state, and change of it (at
// check -DSEMAPHORE=long -DWRONG: FAIL check failed
// check -DREADERS=int: bounded; on the memory of a lock tell of its state, and change of it (at
// check -DREADERS=long: bounded; on the memory of a lock tell of its state, and change of it (at
// check -DREADERS=long -DFIRST: bounded; on the memory of a lock tell of its state, and change of it (at
// check -DREADERS=long -DWRONG: FAIL data race
// check -DSPIN=int: bounded; on the memory of a lock tell of its state, and change of it (at
// check -DSPIN=int -DFIRST: bounded; on the memory of a lock tell of its state, and change of it (at
// check -DSPIN=int -DWRONG: FAIL data race
// check -DBARRIER=int: bounded; on the memory of a lock tell of its state, and change of it (at
// check -DBARRIER=long: bounded; on the memory of a lock tell of its state, and change of it (at
// check -DBARRIER=long -DFIRST: bounded; on the memory of a lock tell of its state, and change of it (at
// check -DBARRIER=long -DWRONG: FAIL check failed
// check -mcx16 -DWIDE: bounded
// check -mcx16 -DWIDE -DTORN: FAIL check failed
// check -mcx16 -DWIDE -DRELAXED: FAIL data race
#include <atomic>
#include <cassert>
#include <cstdint>
#include <mutex>
#include <thread>

#include <pthread.h>
#include <semaphore.h>

#ifndef ROUNDS
#define ROUNDS 0
#endif
#ifdef RELAXED
constexpr int releasing = __ATOMIC_RELAXED;
constexpr int seq_cst = __ATOMIC_RELAXED;
#else
constexpr int releasing = __ATOMIC_RELEASE;
constexpr int seq_cst = __ATOMIC_SEQ_CST;
#endif
constexpr int relaxed = __ATOMIC_RELAXED;
constexpr int acquire = __ATOMIC_ACQUIRE;

alignas(16) std::uint64_t word = 0;
std::atomic<int> other{0};
int data[2];

template <class T>
T* at(unsigned index) {
  return reinterpret_cast<T*>(&word) + index;
}
template <class T>
T load(unsigned index, int order) {
  return __atomic_load_n(at<T>(index), order);
}
template <class T>
void store(unsigned index, T value, int order) {
  __atomic_store_n(at<T>(index), value, order);
}

int main() {
#if defined(FLAGS)
  // Each thread has a flag, and one looks at all of them.
  const auto publish = [](unsigned i) {
    data[i] = 1;
    store<std::uint8_t>(i, 1, releasing);
  };
  std::thread a(publish, 0);
  std::thread b(publish, 1);
  const auto seen = load<std::uint32_t>(0, acquire);
  if ((seen & 0xff) != 0) assert(data[0] == 1);
  if ((seen & 0xff00) != 0) assert(data[1] == 1);
  a.join();
  b.join();
  assert(load<std::uint32_t>(0, relaxed) == 0x101);
#elif defined(OTHER_BYTE) || defined(SAME_BYTE)
  // A later store to the same byte ends what the first one releases; one to another byte does not.
  std::thread a([] {
    data[0] = 1;
    store<std::uint8_t>(0, 1, releasing);
  });
#if defined(OTHER_BYTE)
  std::thread b([] { store<std::uint8_t>(1, 2, relaxed); });
#else
  std::thread b([] {
    while (load<std::uint8_t>(0, relaxed) == 0) continue;
    store<std::uint8_t>(0, 2, relaxed);
  });
#endif
  const auto seen = load<std::uint16_t>(0, acquire);
  if ((seen & 0xff) != 0) assert(data[0] == 1);
  a.join();
  b.join();
#elif defined(CONTINUED)
  // A read-modify-write of the whole word goes on with what both stores release.
  const auto publish = [](unsigned i) {
    data[i] = 1;
    store<std::uint8_t>(i, 1, releasing);
  };
  std::thread a(publish, 0);
  std::thread b(publish, 1);
  __atomic_fetch_add(at<std::uint32_t>(0), 0x10000, relaxed);
  std::thread c([] {
    if (load<std::uint32_t>(0, acquire) == 0x10101) assert(data[0] == 1 && data[1] == 1);
  });
  a.join();
  b.join();
  c.join();
#elif defined(ACQUIRED_BY_STORE)
  // A store acquires nothing, not even a seq_cst one right after the store that releases.
  std::thread a([] {
    data[0] = 1;
    store<std::uint8_t>(0, 1, releasing);
  });
  if (load<std::uint16_t>(0, relaxed) == 1) {
    store<std::uint8_t>(0, 2, seq_cst);
    assert(data[0] == 1);
  }
  a.join();
#elif defined(COUNTERS)
  // Two counters, and a view of both.
  std::thread a([] {
    for (int i = 0; i != 2; ++i) {
      __atomic_fetch_add(at<std::uint32_t>(0), 1, relaxed);
      __atomic_fetch_add(at<std::uint32_t>(1), 1, relaxed);
    }
  });
#ifdef HALVES
  const auto low = load<std::uint32_t>(0, relaxed);
  const auto high = load<std::uint32_t>(1, relaxed);
#else
  const auto both = load<std::uint64_t>(0, relaxed);
  const auto low = static_cast<std::uint32_t>(both);
  const auto high = static_cast<std::uint32_t>(both >> 32);
#endif
  assert(low == high || low == high + 1);
  a.join();
  assert(load<std::uint64_t>(0, relaxed) == (std::uint64_t{2} << 32) + 2);
#elif defined(TICKETS)
  // A ticket lock: the upper half counts those who came, the lower half those who have gone.
  const auto use = [] {
    const std::uint32_t ticket = __atomic_fetch_add(at<std::uint32_t>(0), 0x10000, acquire);
    if ((ticket & 0xffff) != ticket >> 16) {
      while (load<std::uint16_t>(0, acquire) != ticket >> 16) continue;
    }
    ++data[0];
    store<std::uint16_t>(0, static_cast<std::uint16_t>((ticket >> 16) + 1), releasing);
  };
  std::thread a(use);
  use();
  a.join();
  assert(data[0] == 2);
#elif defined(UPDATE)
  // A change of the whole word keeps the other byte only if it is one step.
  std::thread a([] { store<std::uint8_t>(1, 1, relaxed); });
  auto old = load<std::uint32_t>(0, relaxed);
#ifdef LOSES
  store<std::uint32_t>(0, old + 1, relaxed);
#else
  while (!__atomic_compare_exchange_n(at<std::uint32_t>(0), &old, old + 1, false, relaxed, relaxed)) continue;
#endif
  a.join();
  assert(load<std::uint32_t>(0, relaxed) == 0x101);
#elif defined(SWAPPED)
  // A compare-exchange of a byte compares that byte.
  std::thread a([] { store<std::uint32_t>(0, 0x7700, relaxed); });
  std::uint8_t expected = 0x77;
  const bool done = __atomic_compare_exchange_n(at<std::uint8_t>(1), &expected, 1, false, relaxed, relaxed);
  a.join();
  const auto left = load<std::uint32_t>(0, relaxed);
#ifdef WRONG
  assert(!done);
#else
  assert(done ? left == 0x100 : expected == 0 && left == 0x7700);
#endif
#elif defined(LOWER)
  // Whatever the other byte holds.
  std::thread a([] { store<std::uint16_t>(0, 0x7700, relaxed); });
  a.join();
  std::uint8_t expected = 0;
  const bool done = __atomic_compare_exchange_n(at<std::uint8_t>(0), &expected, 1, false, relaxed, relaxed);
#ifdef WRONG
  assert(!done);
#else
  assert(done && load<std::uint16_t>(0, relaxed) == 0x7701);
#endif
#elif defined(DEKKER)
  int seen = -1;
  std::thread a([&] {
    store<std::uint8_t>(0, 1, seq_cst);
    seen = other.load(static_cast<std::memory_order>(seq_cst));
  });
  other.store(1, static_cast<std::memory_order>(seq_cst));
  const auto flag = load<std::uint8_t>(0, seq_cst);
  a.join();
  assert(flag == 1 || seen == 1);
  assert(load<std::uint16_t>(0, relaxed) == 1);
#elif defined(NEVER_SET)
  std::thread a([] { store<std::uint8_t>(0, 1, relaxed); });
  assert(load<std::uint16_t>(0, relaxed) <= 1);
  while (load<std::uint8_t>(1, relaxed) == 0) continue;
  a.join();
#elif defined(PLAIN_BESIDE)
  // A byte that is not atomic, beside one that is: only the whole word makes one variable of them.
#ifdef FIRST
  std::thread a([] { store<std::uint8_t>(0, 1, relaxed); });
  *(at<std::uint8_t>(1)) = 1;
#else
  std::thread a([] { *(at<std::uint8_t>(1)) = 1; });
  store<std::uint8_t>(0, 1, relaxed);
#endif
#ifndef WRONG
  a.join();
#endif
  assert(load<std::uint16_t>(0, relaxed) == 0x101);
#ifdef WRONG
  a.join();
#endif
#elif defined(PLAIN_WITHIN)
  std::thread a([] { static_cast<void>(load<std::uint16_t>(0, relaxed)); });
  store<std::uint8_t>(0, 1, relaxed);
  *(at<std::uint8_t>(1)) = 1;
  a.join();
#elif defined(PLAIN_BEFORE)
  // What was written otherwise before stays there, and so does what the threads wrote after it.
  store<std::uint8_t>(0, 1, relaxed);
  std::thread([] { store<std::uint8_t>(1, 2, relaxed); }).join();
  *(at<std::uint8_t>(2)) = 3;
  std::thread a([] { store<std::uint8_t>(3, 4, relaxed); });
  const auto seen = load<std::uint32_t>(0, relaxed);
  a.join();
#ifdef WRONG
  assert(seen == 0x04030201);
#else
  assert(seen == 0x04030201 || seen == 0x00030201);
#endif
  assert(*(at<std::uint32_t>(0)) == 0x04030201);
#elif defined(LATE)
  // Only some executions show that the sizes differ, and others that the word is larger still.
  std::thread a([] {
    data[0] = 1;
    store<std::uint8_t>(0, 1, releasing);
    other.store(1, std::memory_order_relaxed);
    other.store(2, std::memory_order_relaxed);
  });
  std::atomic<int> counter{0};
  const auto count = [&] {
    for (int i = 0; i != ROUNDS; ++i) counter.fetch_add(1, std::memory_order_relaxed);
  };
  std::thread b(count);
  const int seen = other.load(std::memory_order_relaxed);
  if (seen == 1) static_cast<void>(load<std::uint16_t>(0, relaxed));
  if (seen == 2 && (load<std::uint32_t>(0, acquire) & 1) != 0) assert(data[0] == 1);
  count();  // explored first
  a.join();
  b.join();
#elif defined(ON_A_STACK)
  // Another thread uses the variable, too: what it has written may be old here.
  std::uint64_t both = 0;
  std::thread a([&] {
    __atomic_store_n(&both, 1, relaxed);
    other.store(1, std::memory_order_relaxed);
  });
  if (other.load(std::memory_order_relaxed) == 1) {
    assert(__atomic_load_n(reinterpret_cast<std::uint32_t*>(&both), relaxed) == 1);
  }
  a.join();
#elif defined(WIDE)
  // A pointer with a counter: changed together, and also read and written alone.
  __extension__ using wide = unsigned __int128;
  alignas(16) static wide both = 0;
  auto* const pointer = reinterpret_cast<std::uint64_t*>(&both);
  std::uint64_t* const count = pointer + 1;
  std::thread a([] {
    data[0] = 1;
    wide old = __atomic_load_n(&both, relaxed);
    while (!__atomic_compare_exchange_n(&both, &old, (wide{1} << 64) + 5, false, releasing, relaxed)) continue;
  });
#ifdef TORN
  const auto seen = __atomic_load_n(pointer, acquire);
  assert(__atomic_load_n(count, relaxed) == seen / 5);
#else
  const auto seen = __atomic_load_n(count, acquire);
  if (seen == 1) assert(__atomic_load_n(pointer, relaxed) == 5 && data[0] == 1);
#endif
  a.join();
  __atomic_store_n(pointer, 6, relaxed);
  assert(__atomic_load_n(&both, relaxed) == (wide{1} << 64) + 6);
#elif defined(LOCK)
  // The memory of a mutex is also that of an atomic variable of this type, which is written before or after others
  // lock.
  static std::mutex mutex;
  auto* const link = reinterpret_cast<LOCK*>(&mutex);
#ifdef FIRST
  __atomic_store_n(link, 5, relaxed);
#endif
  const auto use = [] {
#ifndef WRONG
    const std::lock_guard<std::mutex> guard(mutex);
#endif
    ++data[0];
  };
  std::thread a(use);
  use();
#ifndef FIRST
  __atomic_store_n(link, 5, relaxed);
#endif
  {
    const std::lock_guard<std::mutex> guard(mutex);
    assert(__atomic_load_n(link, relaxed) == 5);
  }
  a.join();
  assert(data[0] == 2);
#elif defined(SEMAPHORE)
  // The same of a semaphore, which is initialised again in the end.
  static sem_t semaphore;
#ifdef WRONG
  sem_init(&semaphore, 0, 2);
#else
  sem_init(&semaphore, 0, 1);
#endif
  auto* const link = reinterpret_cast<SEMAPHORE*>(&semaphore);
#ifdef FIRST
  __atomic_store_n(link, 5, relaxed);
#endif
  const auto use = [] {
    sem_wait(&semaphore);
    ++data[0];
    sem_post(&semaphore);
  };
  std::thread a(use);
  use();
  __atomic_store_n(link, 7, relaxed);
  a.join();
  int value = 0;
  sem_getvalue(&semaphore, &value);
  assert(value == 1 && __atomic_load_n(link, relaxed) == 7);
  sem_destroy(&semaphore);
  sem_init(&semaphore, 0, 3);
  sem_wait(&semaphore);
  sem_getvalue(&semaphore, &value);
  assert(value == 2);
#elif defined(READERS)
  static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  auto* const link = reinterpret_cast<READERS*>(&lock);
#ifdef FIRST
  __atomic_store_n(link, 5, relaxed);
#endif
  const auto use = [] {
#ifdef WRONG
    pthread_rwlock_rdlock(&lock);
#else
    pthread_rwlock_wrlock(&lock);
#endif
    ++data[0];
    pthread_rwlock_unlock(&lock);
  };
  std::thread a(use);
  use();
  __atomic_store_n(link, 7, relaxed);
  pthread_rwlock_rdlock(&lock);
  assert(pthread_rwlock_trywrlock(&lock) != 0 && pthread_rwlock_tryrdlock(&lock) == 0);
  pthread_rwlock_unlock(&lock);
  pthread_rwlock_unlock(&lock);
  a.join();
  assert(data[0] == 2 && __atomic_load_n(link, relaxed) == 7);
#elif defined(SPIN)
  static pthread_spinlock_t lock;
  pthread_spin_init(&lock, 0);
  auto* const link = reinterpret_cast<SPIN*>(const_cast<int*>(&lock));
#ifdef FIRST
  __atomic_store_n(link, 5, relaxed);
#endif
  const auto use = [] {
#ifndef WRONG
    pthread_spin_lock(&lock);
#endif
    ++data[0];
#ifndef WRONG
    pthread_spin_unlock(&lock);
#endif
  };
  std::thread a(use);
  use();
  __atomic_store_n(link, 7, relaxed);
  a.join();
  pthread_spin_lock(&lock);
  assert(data[0] == 2 && __atomic_load_n(link, relaxed) == 7);
  pthread_spin_unlock(&lock);
#elif defined(BARRIER)
  static pthread_barrier_t barrier;
#ifdef WRONG
  pthread_barrier_init(&barrier, nullptr, 1);
#else
  pthread_barrier_init(&barrier, nullptr, 2);
#endif
  auto* const link = reinterpret_cast<BARRIER*>(&barrier);
#ifdef FIRST
  __atomic_store_n(link, 5, relaxed);
#endif
  std::thread a([] {
    data[0] = 1;
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    data[0] = 2;
  });
  pthread_barrier_wait(&barrier);
  assert(data[0] == 1);
  __atomic_store_n(link, 7, relaxed);
  pthread_barrier_wait(&barrier);
  a.join();
  assert(data[0] == 2 && __atomic_load_n(link, relaxed) == 7);
#endif
}
