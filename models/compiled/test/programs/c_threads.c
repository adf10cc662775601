// SPDX-License-Identifier: MIT
// C11: <stdatomic.h> and <threads.h>; and what pthreads have besides mutexes.
// Each program has a macro, which stands first in its lines `// check`. The last program has none.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

#if defined(SPURIOUS)

// The waits of C end for no reason, too: those of pthreads, and those of <threads.h>, which are made of them.
// check -DSPURIOUS: bounded, 2 executions
// check -DSPURIOUS -DONCE: FAIL assertion fails: ready
// check -DSPURIOUS --spurious-wakeups 0 -DONCE: bounded
// check -DSPURIOUS --spurious-wakeups 1: exhaustive, 5 executions
// check -DSPURIOUS -DTIMED: bounded
// check -DSPURIOUS -DTIMED -DONCE: FAIL assertion fails: ready
// check -DSPURIOUS -DTHREADS: bounded, 2 executions
// check -DSPURIOUS -DTHREADS -DONCE: FAIL assertion fails: ready
// check -DSPURIOUS --spurious-wakeups 1 -DTHREADS: exhaustive, 5 executions

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static mtx_t mutex_of_c;
static cnd_t changed_of_c;
static int ready = 0;

static void lock_it(int locks) {
#ifdef THREADS
  (void)(locks ? mtx_lock(&mutex_of_c) : mtx_unlock(&mutex_of_c));
#else
  (void)(locks ? pthread_mutex_lock(&mutex) : pthread_mutex_unlock(&mutex));
#endif
}

static int wait_once(const struct timespec* end) {
#if defined(THREADS)
  (void)end;
  return cnd_wait(&changed_of_c, &mutex_of_c);
#elif defined(TIMED)
  return pthread_cond_timedwait(&changed, &mutex, end);
#else
  (void)end;
  return pthread_cond_wait(&changed, &mutex);
#endif
}

static void* await(void* unused) {
  const struct timespec end = {2000000000, 0};
  lock_it(1);
#if defined(ONCE)
  const int error = ready ? 0 : wait_once(&end);
  if (error != ETIMEDOUT)
#else
  while (!ready) {
    if (wait_once(&end) == ETIMEDOUT) break;
  }
#endif
#if defined(ONCE) || !defined(TIMED)
    assert(ready);
#endif
  lock_it(0);
  return unused;
}

int main(void) {
  mtx_init(&mutex_of_c, mtx_plain);
  cnd_init(&changed_of_c);
  pthread_t waiter;
  pthread_create(&waiter, NULL, await, NULL);
  lock_it(1);
  ready = 1;
  lock_it(0);
#ifdef THREADS
  cnd_signal(&changed_of_c);
#else
  pthread_cond_signal(&changed);
#endif
  pthread_join(waiter, NULL);
}

#else

// C11: <stdatomic.h> and <threads.h>; and what pthreads have besides mutexes.
// check -DMUTEX: exhaustive, 2 executions
// check -DMUTEX -DWRONG: FAIL data race
// check -DCONDITION: bounded
// check -DONCE: exhaustive
// check -DATOMIC: exhaustive
// check -DATOMIC -DWRONG: FAIL data race
// check -DSPECIFIC: exhaustive
// check -DBARRIER: exhaustive, 1 execution, +0 blocked
// check -DBARRIER --barriers-in-order: exhaustive, 2 executions
// check -DBARRIER -DWRONG: FAIL data race
// check -DRWLOCK: exhaustive
// check -DEXIT: exhaustive
// check -DNOT_HELD: FAIL misuse
// check -DDESTROYED: FAIL misuse
// check -DDESTROYED -DTWICE: FAIL misuse
// check -DDESTROYED -DHELD: FAIL misuse
// check -DDESTROYED -DRACING: FAIL misuse
// check -DDESTROYED -DANEW: exhaustive

static int data;
static mtx_t lock;
static cnd_t changed;
static once_flag once = ONCE_FLAG_INIT;
static tss_t key;
static atomic_int ready;
static atomic_int destroyed;
static pthread_barrier_t barrier;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void initialise(void) { ++data; }
static void destroy(void* value) {
  free(value);
  atomic_fetch_add(&destroyed, 1);
}

static int work(void* argument) {
  (void)argument;
#if defined(MUTEX)
#ifndef WRONG
  mtx_lock(&lock);
#endif
  ++data;
#ifndef WRONG
  mtx_unlock(&lock);
#endif
#elif defined(CONDITION)
  mtx_lock(&lock);
  while (data == 0) cnd_wait(&changed, &lock);
  mtx_unlock(&lock);
#elif defined(ONCE)
  call_once(&once, initialise);
  assert(data == 1);
#elif defined(ATOMIC)
#ifdef WRONG
  if (atomic_load_explicit(&ready, memory_order_relaxed)) assert(data == 1);
#else
  if (atomic_load_explicit(&ready, memory_order_acquire)) assert(data == 1);
#endif
#elif defined(SPECIFIC)
  tss_set(key, malloc(4));
  assert(tss_get(key) != NULL);
#elif defined(BARRIER)
  if (argument == NULL) data = 1;
#ifndef WRONG
  pthread_barrier_wait(&barrier);
#endif
  if (argument != NULL) assert(data == 1);
#elif defined(RWLOCK)
  if (argument == NULL) {
    pthread_rwlock_wrlock(&rwlock);
    ++data;
  } else {
    pthread_rwlock_rdlock(&rwlock);
    assert(data < 2);
  }
  pthread_rwlock_unlock(&rwlock);
#elif defined(EXIT)
  thrd_exit(7);
#elif defined(RACING)
  mtx_lock(&lock);
  mtx_unlock(&lock);
#endif
  return 7;
}

int main(void) {
  thrd_t a, b;
  int result = 0;
  mtx_init(&lock, mtx_plain);
  cnd_init(&changed);
  tss_create(&key, destroy);
  pthread_barrier_init(&barrier, NULL, 2);
#ifdef NOT_HELD
  pthread_rwlock_unlock(&rwlock);
#endif
  thrd_create(&a, work, NULL);
  thrd_create(&b, work, &data);
#if defined(CONDITION)
  mtx_lock(&lock);
  data = 1;
  mtx_unlock(&lock);
  cnd_broadcast(&changed);
#elif defined(ATOMIC)
  data = 1;
  atomic_store_explicit(&ready, 1, memory_order_release);
#endif
#ifdef RACING
  mtx_destroy(&lock);
#endif
  thrd_join(a, &result);
  assert(result == 7);
  thrd_join(b, NULL);
#if defined(MUTEX)
  assert(data == 2);
#elif defined(SPECIFIC)
  assert(atomic_load(&destroyed) == 2);
#endif
#if defined(DESTROYED) && !defined(RACING)
#ifdef HELD
  mtx_lock(&lock);
#endif
  mtx_destroy(&lock);
#ifdef ANEW
  mtx_init(&lock, mtx_plain);
#endif
#ifndef TWICE
  mtx_lock(&lock);
  mtx_unlock(&lock);
#endif
#endif
#ifndef RACING
  mtx_destroy(&lock);
#endif
  cnd_destroy(&changed);
  return 0;
}

#endif
