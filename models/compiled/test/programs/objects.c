// SPDX-License-Identifier: MIT
// Keys, pthread_once, threads' handles, and what calls say of wrong arguments. object_table.py has the other objects.
// check -DONCE: passes
// check -DONCE -DGARBAGE: FAIL misuse: a pthread_once_t is used that was never initialised
// check -DONCE -DFREED: FAIL use after free
// check -DONCE -DNOWHERE: FAIL SEGV
// check -DKEY: passes
// check -DKEY -DUNCREATED: FAIL misuse: a key is used that was not created
// check -DKEY -DGARBAGE: FAIL misuse: a key is used that was not created
// check -DKEY -DOF_C11: FAIL misuse: a key is used that was not created
// check -DKEY -DDELETED: FAIL misuse: a key is used after or while it is deleted by T0 at
// check -DKEY -DTWICE: FAIL misuse: a key is deleted after or while it is deleted by T0 at
// check -DKEY -DBESIDE: FAIL misuse: a key is used after or while it is deleted by T0 at
// check -DKEY -DDELETED_BESIDE: FAIL data race: a key is deleted while in use
// check -DKEYS_BESIDE: passes
// check -DHANDLE: passes
// check -DHANDLE -DTWICE: FAIL misuse: T1 is joined that is joined already, by T0 at
// check -DHANDLE -DDETACHED: FAIL misuse: T1 is joined that is detached already, by T0 at
// check -DHANDLE -DDETACHED_TWICE: FAIL misuse: T1 is detached that is detached already, by T0 at
// check -DHANDLE -DBESIDE: FAIL misuse: T1 is
// check -DHANDLE -DGARBAGE: FAIL misuse: a thread is joined that the program has not started
// check -DHANDLE -DITSELF: passes
// check -DSEMAPHORE: passes
// check -DTIMES: passes
// check alone -D_GNU_SOURCE -DCLOCKS: passes
// check -DKINDS: passes
// check -DRECURSIVE_WAIT: FAIL deadlock
// check -DTWO_MUTEXES: FAIL misuse: T
// check -DOVERWRITTEN: FAIL misuse: the barrier
// check -DTIME_RACES: FAIL data race
// check -DTIME_RACES -DSLEEPS: FAIL data race
// check -DNO_RESULT: FAIL SEGV
// check -DNO_ATTRIBUTES: FAIL SEGV
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

static int data;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static atomic_int created;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_t first;
static struct timespec when;

static void initialise(void) { ++data; }
static void* nowhere(void) { return NULL; }
static void initialise_lock(int kind) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, kind);
  assert(pthread_mutex_init(&lock, &attributes) == 0);
}

static void* work(void* argument) {
#if defined(ONCE)
  pthread_once(argument, initialise);
#elif defined(KEYS_BESIDE)
  pthread_key_t own;
  if (argument == &lock) atomic_load(&created);
  pthread_key_create(&own, NULL);
  pthread_setspecific(own, argument);
  assert(pthread_getspecific(own) == argument);
  // The numbers are the same in each execution, whichever thread is the first to create its key.
  atomic_fetch_add(&created, 1);
  if (argument == &lock) assert(own == key + 1);
#elif defined(DELETED_BESIDE)
  pthread_key_delete(key);
#elif defined(KEY)
  pthread_setspecific(key, argument);
  assert(pthread_getspecific(key) == argument);
#elif defined(ITSELF)
  assert(pthread_join(pthread_self(), NULL) == EDEADLK);
#elif defined(RECURSIVE_WAIT)
  pthread_mutex_lock(&lock);
  data = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
#elif defined(TWO_MUTEXES)
  const struct timespec soon = {1, 0};
  pthread_mutex_lock(argument);
  pthread_cond_timedwait(&changed, argument, &soon);
  pthread_mutex_unlock(argument);
#elif defined(TIME_RACES)
  when.tv_sec = 1;
#endif
  return argument;
}

#ifdef HANDLE
static void* detach(void* argument) {
  (void)argument;
  pthread_detach(first);
  return NULL;
}
#endif

int main(void) {
  pthread_t second;
  void* result = NULL;
  const struct timespec wrong = {1, 1000 * 1000 * 1000};
  (void)second, (void)result, (void)wrong, (void)initialise, (void)nowhere, (void)work, (void)initialise_lock;
#if defined(ONCE)
  pthread_once_t* p = &once;
#ifdef GARBAGE
  memset(p, 0x5a, sizeof *p);
#endif
#ifdef NOWHERE
  p = nowhere();
#endif
#ifdef FREED
  p = calloc(1, sizeof *p);
#endif
  pthread_create(&first, NULL, work, p);
#ifdef FREED
  free(p);
#else
  pthread_once(p, initialise);
#endif
  pthread_join(first, NULL);
  assert(data == 1);
#elif defined(KEY)
#ifdef UNCREATED
  pthread_setspecific(key, NULL);
#endif
#ifdef OF_C11
  tss_set(key, NULL);
#endif
#ifdef GARBAGE
  memset(&key, 0x5a, sizeof key);
  pthread_setspecific(key, NULL);
#endif
  pthread_key_create(&key, NULL);
#ifdef TWICE
  pthread_key_delete(key);
  pthread_key_delete(key);
#endif
#ifdef DELETED
  pthread_key_delete(key);
#endif
  pthread_create(&first, NULL, work, &data);
#ifdef DELETED_BESIDE
  pthread_getspecific(key);
#endif
#ifdef BESIDE
  pthread_key_delete(key);
#endif
  pthread_join(first, NULL);
  pthread_key_delete(key);
#elif defined(KEYS_BESIDE)
  pthread_key_create(&key, NULL);
  pthread_create(&first, NULL, work, &data);
  work(&lock);
  pthread_join(first, NULL);
#elif defined(HANDLE)
  pthread_create(&first, NULL, work, &data);
#ifdef GARBAGE
  memset(&first, 0x5a, sizeof first);
#endif
#ifdef DETACHED
  pthread_detach(first);
#endif
#ifdef DETACHED_TWICE
  pthread_detach(first);
  pthread_detach(first);
#endif
#ifdef BESIDE
  pthread_create(&second, NULL, detach, NULL);
#else
  second = first;
  (void)detach;
#endif
  pthread_join(first, &result);
  assert(result == &data);
#ifdef TWICE
  pthread_join(first, NULL);
#endif
  assert(pthread_join(pthread_self(), NULL) == EDEADLK);
  pthread_detach(pthread_self());
#elif defined(SEMAPHORE)
  sem_t s;
  assert(sem_init(&s, 0, (unsigned)SEM_VALUE_MAX + 1) == -1 && errno == EINVAL);
  assert(sem_init(&s, 0, SEM_VALUE_MAX) == 0);
  assert(sem_post(&s) == -1 && errno == EOVERFLOW);
  assert(sem_wait(&s) == 0);
  assert(sem_post(&s) == 0);
  assert(sem_destroy(&s) == 0);
  pthread_barrier_t b;
  assert(pthread_barrier_init(&b, NULL, 0) == EINVAL);
#elif defined(TIMES)
  // Where a call would have to wait, it looks at the time.
  sem_t s;
  sem_init(&s, 0, 1);
  assert(sem_timedwait(&s, &wrong) == 0);
  assert(sem_timedwait(&s, &wrong) == -1 && errno == EINVAL);
  assert(pthread_mutex_timedlock(&lock, &wrong) == 0);
  assert(pthread_mutex_timedlock(&lock, &wrong) == EINVAL);
  assert(pthread_cond_timedwait(&changed, &lock, &wrong) == EINVAL);
  pthread_mutex_unlock(&lock);
  pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
  assert(pthread_rwlock_timedwrlock(&shared, &wrong) == 0);
  assert(pthread_rwlock_timedrdlock(&shared, &wrong) == EINVAL);
  pthread_rwlock_unlock(&shared);
  assert(nanosleep(&wrong, NULL) == -1 && errno == EINVAL);
  assert(clock_nanosleep(CLOCK_MONOTONIC, 0, &wrong, NULL) == EINVAL);
  assert(thrd_sleep(&wrong, NULL) == -2);
#elif defined(CLOCKS)
  const struct timespec soon = {1, 0};
  const clockid_t unknown = 1000;
  struct timespec now;
  assert(clock_gettime(unknown, &now) == -1 && errno == EINVAL);
  assert(pthread_mutex_clocklock(&lock, unknown, &soon) == EINVAL);
  pthread_mutex_lock(&lock);
  assert(pthread_cond_clockwait(&changed, &lock, unknown, &soon) == EINVAL);
  pthread_mutex_unlock(&lock);
  sem_t s;
  sem_init(&s, 0, 1);
  assert(sem_clockwait(&s, unknown, &soon) == -1 && errno == EINVAL);
#elif defined(KINDS)
  mtx_t m;
  assert(mtx_init(&m, 1000) == thrd_error);
  assert(pthread_mutex_lock(&lock) == 0 && pthread_mutex_trylock(&lock) == EBUSY && pthread_mutex_unlock(&lock) == 0);
  pthread_mutex_destroy(&lock);
  pthread_spinlock_t spin;
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  assert(pthread_spin_lock(&spin) == 0 && pthread_spin_trylock(&spin) == EBUSY && pthread_spin_unlock(&spin) == 0);
  initialise_lock(PTHREAD_MUTEX_ERRORCHECK);
  assert(pthread_mutex_unlock(&lock) == EPERM);
  assert(pthread_cond_wait(&changed, &lock) == EPERM);
  assert(pthread_mutex_lock(&lock) == 0 && pthread_mutex_lock(&lock) == EDEADLK);
  assert(pthread_mutex_trylock(&lock) == EBUSY && pthread_mutex_unlock(&lock) == 0);
  pthread_mutex_destroy(&lock);
  initialise_lock(PTHREAD_MUTEX_RECURSIVE);
  assert(pthread_mutex_unlock(&lock) == EPERM);
  assert(pthread_mutex_lock(&lock) == 0 && pthread_mutex_trylock(&lock) == 0);
  assert(pthread_mutex_unlock(&lock) == 0 && pthread_mutex_unlock(&lock) == 0);
  assert(pthread_mutex_unlock(&lock) == EPERM);
#elif defined(RECURSIVE_WAIT)
  // The wait gives the mutex back once, and it is locked twice.
  initialise_lock(PTHREAD_MUTEX_RECURSIVE);
  pthread_create(&first, NULL, work, NULL);
  pthread_mutex_lock(&lock);
  pthread_mutex_lock(&lock);
  while (data == 0) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  pthread_mutex_unlock(&lock);
  pthread_join(first, NULL);
#elif defined(OVERWRITTEN)
  static pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, 1);
  memset(&barrier, 0, sizeof barrier / 2);
  pthread_barrier_wait(&barrier);
#elif defined(TWO_MUTEXES)
  static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
  pthread_create(&first, NULL, work, &lock);
  work(&other);
  pthread_join(first, NULL);
#elif defined(TIME_RACES)
  pthread_create(&first, NULL, work, NULL);
#ifdef SLEEPS
  nanosleep(&when, NULL);
#else
  clock_gettime(CLOCK_MONOTONIC, &when);
#endif
  pthread_join(first, NULL);
#elif defined(NO_ATTRIBUTES)
  const uintptr_t close_to_nowhere = 8;
  pthread_create(&first, (const pthread_attr_t*)close_to_nowhere, work, NULL);
#elif defined(NO_RESULT)
  sem_t s;
  sem_init(&s, 0, 1);
  sem_getvalue(&s, nowhere());
#endif
  return 0;
}
