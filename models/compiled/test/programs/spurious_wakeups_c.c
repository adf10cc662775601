// SPDX-License-Identifier: MIT
// The waits of C end for no reason, too: those of pthreads, and those of <threads.h>, which are made of them.
// check: bounded, 2 executions
// check -DONCE: FAIL assertion fails: ready
// check --spurious-wakeups 0 -DONCE: bounded
// check --spurious-wakeups 1: exhaustive, 5 executions
// check -DTIMED: bounded
// check -DTIMED -DONCE: FAIL assertion fails: ready
// check -DTHREADS: bounded, 2 executions
// check -DTHREADS -DONCE: FAIL assertion fails: ready
// check --spurious-wakeups 1 -DTHREADS: exhaustive, 5 executions
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <threads.h>
#include <time.h>

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
