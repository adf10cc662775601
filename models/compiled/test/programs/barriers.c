// SPDX-License-Identifier: MIT
// Barriers of pthreads, whose threads have no order in a round; and the same with each order of arrivals.
// check: exhaustive, 1 execution, +0 blocked
// check --barriers-in-order: exhaustive, 1296 executions
// check -DLOOKS: exhaustive, 9 executions, +0 blocked
// check -DLOOKS --barriers-in-order: exhaustive, 1296 executions
// check -DONE_LOOKS: exhaustive, 4 executions, +0 blocked
// check -DSERIAL_RACES: FAIL data race
// check -DALL_ARE_SERIAL: FAIL check failed
// check -DSECOND_IS_SERIAL: FAIL check failed
// check -DRACE: FAIL data race
// check -DRACE --barriers-in-order: FAIL data race
// check -DMISSING: FAIL deadlock
// check -DMISSING --barriers-in-order: FAIL deadlock
// check -DMORE: FAIL check failed
// check -DMORE --barriers-in-order: FAIL check failed
// check -DPAIRS: exhaustive, 96 executions
// check -DPAIRS --barriers-in-order: exhaustive, 96 executions
// check -DPAIRS -DSOMETIMES: exhaustive, 98 executions
// check -DOTHERS_LATER: exhaustive, 1 execution, +0 blocked
// check -DREAD_BEFORE: exhaustive, 12 executions, +0 blocked
// check -DFLAG: exhaustive, 1 execution
// check -DDESTROYED: exhaustive, 2 executions, +0 blocked
// check -DSTALE: exhaustive, 6 executions, +0 blocked
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define COUNT 3
static pthread_barrier_t barrier;
static int data[4];
static atomic_int count, flag;
static int serial;

static void round_of(long own, int round) {
  data[own] = round;
#if defined(LOOKS)
  if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) ++serial;
#elif defined(ONE_LOOKS)
  if (own == 1) {
    serial = pthread_barrier_wait(&barrier);
  } else {
    pthread_barrier_wait(&barrier);
  }
#elif defined(SERIAL_RACES)
  if (pthread_barrier_wait(&barrier) == 0) ++serial;
#else
  pthread_barrier_wait(&barrier);
#endif
  for (int i = 0; i != COUNT; ++i) assert(data[i] == round);
#ifndef RACE
  pthread_barrier_wait(&barrier);
#endif
}

static void* work(void* argument) {
  const long own = (long)argument;
#if defined(PAIRS)
  // Any two of four threads are a round.
  data[own] = 1;
  pthread_barrier_wait(&barrier);
  assert(data[own] == 1);
#ifdef WRITTEN_BESIDE
  if (own == 3) {
    while (atomic_load_explicit(&flag, memory_order_relaxed) == 0) {
    }
  } else if (own == 2) {
    *(int*)&flag = 0;
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
  }
#endif
#elif defined(OTHERS_LATER)
  data[own] = 1;
  pthread_barrier_wait(&barrier);
  assert(data[0] == 1 && data[1] == 1);
#elif defined(READ_BEFORE)
  atomic_store_explicit(&flag, 1, memory_order_relaxed);
  assert(own != 0 || atomic_load_explicit(&count, memory_order_relaxed) < 2);
  if (own == 1) atomic_store_explicit(&count, 1, memory_order_relaxed);
  pthread_barrier_wait(&barrier);
  assert(atomic_load_explicit(&flag, memory_order_relaxed) == 1);
#elif defined(FLAG)
  // A thread that comes to the next round because of what it has read from one that has gone on.
  if (own == 2) {
    while (atomic_load_explicit(&flag, memory_order_relaxed) == 0) {
    }
    pthread_barrier_wait(&barrier);
    return NULL;
  }
  pthread_barrier_wait(&barrier);
  if (own == 0) {
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    pthread_barrier_wait(&barrier);
  }
#elif defined(DESTROYED)
  // Others may still depart.
  if (own != 2 && pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
    pthread_barrier_destroy(&barrier);
    pthread_barrier_init(&barrier, NULL, COUNT);
  }
#elif defined(STALE)
  // Executions that are replayed: plain memory is what it was behind the barrier.
  data[own] = 1;
  pthread_barrier_wait(&barrier);
  assert(data[0] == 1 && data[1] == 1 && data[2] == 1);
  atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
#elif defined(ALL_ARE_SERIAL) || defined(SECOND_IS_SERIAL)
  if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
#ifdef SECOND_IS_SERIAL
    assert(own == 1);
#endif
  } else {
#ifdef ALL_ARE_SERIAL
    assert(0);
#endif
  }
#else
  for (int round = 1; round != 3; ++round) round_of(own, round);
#endif
  return NULL;
}

#ifdef SOMETIMES
static void* choose(void* argument) {
  atomic_store_explicit(&flag, 1, memory_order_relaxed);
  return argument;
}
#endif

static void run(long first, long end) {
  pthread_t started[4];
  for (long i = first; i != end; ++i) pthread_create(&started[i], NULL, work, (void*)i);
  for (long i = first; i != end; ++i) pthread_join(started[i], NULL);
}

int main(void) {
#if defined(MISSING)
  pthread_barrier_init(&barrier, NULL, COUNT + 1);
#elif defined(MORE) || defined(PAIRS) || defined(OTHERS_LATER) || defined(FLAG) || defined(DESTROYED)
  pthread_barrier_init(&barrier, NULL, 2);
#else
  pthread_barrier_init(&barrier, NULL, COUNT);
#endif
#if defined(SOMETIMES)
  // Rounds are clear in the first executions.
  pthread_t other;
  pthread_create(&other, NULL, choose, NULL);
  run(0, atomic_load_explicit(&flag, memory_order_relaxed) == 0 ? 2 : 4);
  pthread_join(other, NULL);
#elif defined(PAIRS)
  run(0, 4);
#elif defined(OTHERS_LATER)
  run(0, 2);
  run(2, 4);
#else
  run(0, COUNT);
#endif
#ifdef LOOKS
  assert(serial == 2);
#endif
  pthread_barrier_destroy(&barrier);
}
