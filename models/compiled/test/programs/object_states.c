// SPDX-License-Identifier: MIT
// Objects of pthreads and of C11: what the checker keeps of them, and of threads and time.
// check -DBARRIER: exhaustive
// check -DBARRIER --barriers-in-order: exhaustive
// check -DBARRIER -DLATE: FAIL data race
// check -DTWICE: FAIL misuse: the mutex
// check -DNEVER: FAIL misuse: the semaphore
// check -DMISALIGNED: FAIL misuse: a mutex is used at the misaligned address
// check -DSIGNAL_FIRST: FAIL data race: the condition variable
// check -DSIGNAL_FIRST -DTOLD: exhaustive
// check -DGIVES_BACK: FAIL misuse: T0 gives back the mutex
// check -DPLAIN: FAIL deadlock
// check -DPLAIN -DRECURSIVE: exhaustive
// check -DDETACHED: FAIL misuse: T1 is joined that is detached already
// check -DHANDLE: FAIL data race
// check -DTHEN_ANOTHER: bounded; spurious wake-ups but for one of a thread when its wait begins (--spurious-wakeups N)
// check -DWHICH --spurious-wakeups 0: FAIL assertion
// check -DWAKES --spurious-wakeups 1: FAIL assertion
// check -DDEADLINE: bounded; clocks that go on by less than a day
// check -DDEADLINE_LOOP: bounded
// check -DIN_TIME: FAIL assertion
// check -DIN_TIME -DNO_POST --timeouts 0: no verdict: all of 1 executions wait for ever
// check -DONLY_TIMEOUTS --timeouts 0: bounded; more than 0 timeouts of a thread
// check -DVALUE_AGAIN: exhaustive
// check -DHELD_BEFORE: exhaustive
// check -DHELD_BEFORE --waits-in-place off: exhaustive
// check -DATTRIBUTES: FAIL data race
// check -DATTRIBUTES -DJOINED: exhaustive
// check -DAT_EXIT: exhaustive, 2 executions
// check -DSPIN_LOCK: exhaustive, 2 executions
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

static int slots[2];
static int times;
static atomic_int flag;
static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t permits;
static pthread_key_t key;
static pthread_t handle;

static void wait_for_flag(memory_order order) {
  while (atomic_load_explicit(&flag, order) == 0) continue;
}

// Two rounds: each thread writes its slot, and reads the other's behind the barrier.
static void two_rounds(int own) {
  for (int round = 1; round != 3; ++round) {
    slots[own] = round;
    const int e = pthread_barrier_wait(&barrier);
    assert(e == 0 || e == PTHREAD_BARRIER_SERIAL_THREAD);
    if (e != 0) ++times;
#ifdef LATE
    slots[own] = 0;
#endif
    assert(slots[1 - own] == round);
    pthread_barrier_wait(&barrier);
  }
}

static void set_again(void* value) {
  if (++times != 3) pthread_setspecific(key, value);
}
static void at_exit(void) {
  ++times;
  assert(times == 1);
}

static void* work(void* argument) {
#if defined(BARRIER)
  two_rounds(1);
#elif defined(SIGNAL_FIRST)
  pthread_cond_signal(&changed);
#ifdef TOLD
  atomic_store_explicit(&flag, 1, memory_order_release);
#else
  atomic_store_explicit(&flag, 1, memory_order_relaxed);
#endif
#elif defined(HANDLE)
  const pthread_t copy = handle;
  (void)copy;
#elif defined(THEN_ANOTHER)
  pthread_mutex_lock(&lock);
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  (void)argument;
#elif defined(WHICH)
  pthread_mutex_lock(&lock);
  ++times;
  pthread_cond_wait(&changed, &lock);
  if (slots[0] == 0) slots[0] = (int)(size_t)argument;
  pthread_mutex_unlock(&lock);
#elif defined(IN_TIME)
#ifndef NO_POST
  sem_post(&permits);
#endif
#elif defined(VALUE_AGAIN)
  pthread_setspecific(key, &key);
#elif defined(ATTRIBUTES)
  pthread_mutexattr_settype(argument, PTHREAD_MUTEX_RECURSIVE);
#elif defined(HELD_BEFORE) || defined(AT_EXIT) || defined(SPIN_LOCK)
  atomic_store(&flag, 1);
#endif
  return argument;
}

int main(void) {
  pthread_t first, second;
  struct timespec soon = {1, 0};
  (void)first, (void)second, (void)soon, (void)two_rounds, (void)set_again, (void)at_exit, (void)work,
      (void)wait_for_flag;
#if defined(BARRIER)
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_create(&first, NULL, work, NULL);
  two_rounds(0);
  pthread_join(first, NULL);
  assert(times == 2);
#elif defined(TWICE)
  pthread_mutex_init(&lock, NULL);
  pthread_mutex_init(&lock, NULL);
#elif defined(NEVER)
  sem_post(&permits);
#elif defined(MISALIGNED)
  static char room[2 * sizeof(pthread_mutex_t)];
  pthread_mutex_lock((pthread_mutex_t*)(room + 1));
#elif defined(SIGNAL_FIRST)
  pthread_cond_init(&changed, NULL);
  pthread_create(&first, NULL, work, NULL);
#ifdef TOLD
  wait_for_flag(memory_order_acquire);
#else
  wait_for_flag(memory_order_relaxed);
#endif
  pthread_cond_destroy(&changed);
  pthread_join(first, NULL);
#elif defined(GIVES_BACK)
  pthread_mutex_unlock(&lock);
#elif defined(PLAIN)
  mtx_t own;
#ifdef RECURSIVE
  mtx_init(&own, mtx_plain | mtx_recursive);
#else
  mtx_init(&own, mtx_plain);
#endif
  mtx_lock(&own);
  mtx_lock(&own);
  mtx_unlock(&own);
  mtx_unlock(&own);
#elif defined(DETACHED)
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_create(&first, &attributes, work, NULL);
  pthread_join(first, NULL);
#elif defined(HANDLE)
  pthread_create(&first, NULL, work, NULL);
  pthread_create(&handle, NULL, work, NULL);
  pthread_join(first, NULL);
  pthread_join(handle, NULL);
#elif defined(THEN_ANOTHER)
  // A wait with another mutex, when the first one has ended.
  pthread_mutex_lock(&lock);
  pthread_create(&first, NULL, work, NULL);
  pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  pthread_join(first, NULL);
  pthread_mutex_lock(&second_lock);
  pthread_cond_timedwait(&changed, &second_lock, &soon);
  pthread_mutex_unlock(&second_lock);
#elif defined(WHICH)
  // Either of those that wait may be woken first, also the one that began to wait later.
  pthread_create(&first, NULL, work, (void*)1);
  for (int waiting = 0; waiting != 2;) {
    pthread_mutex_lock(&lock);
    if (times == 1 && waiting == 0) pthread_create(&second, NULL, work, (void*)2);
    waiting = times;
    pthread_mutex_unlock(&lock);
  }
  pthread_mutex_lock(&lock);
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  int chosen = 0;
  while (chosen == 0) {
    pthread_mutex_lock(&lock);
    chosen = slots[0];
    pthread_mutex_unlock(&lock);
  }
  pthread_cond_signal(&changed);
  pthread_join(first, NULL);
  pthread_join(second, NULL);
  assert(slots[0] == 1);
#elif defined(WAKES)
  pthread_mutex_lock(&lock);
  assert(pthread_cond_timedwait(&changed, &lock, &soon) == ETIMEDOUT);
  pthread_mutex_unlock(&lock);
#elif defined(DEADLINE)
  clock_gettime(CLOCK_REALTIME, &soon);
  soon.tv_sec += 5;
  pthread_mutex_lock(&lock);
  if (pthread_cond_timedwait(&changed, &lock, &soon) == ETIMEDOUT) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    assert(now.tv_sec >= soon.tv_sec);
  }
  pthread_mutex_unlock(&lock);
#elif defined(DEADLINE_LOOP)
  clock_gettime(CLOCK_REALTIME, &soon);
  const time_t end = soon.tv_sec + 5;
  while (atomic_load(&flag) == 0 && soon.tv_sec < end) clock_gettime(CLOCK_REALTIME, &soon);
#elif defined(IN_TIME)
  sem_init(&permits, 0, 0);
  pthread_create(&first, NULL, work, NULL);
  assert(sem_timedwait(&permits, &soon) != 0);
  pthread_join(first, NULL);
#elif defined(ONLY_TIMEOUTS)
  sem_init(&permits, 0, 1);
  assert(sem_timedwait(&permits, &soon) == 0);
#elif defined(VALUE_AGAIN)
  // A destructor that sets the value again is called again.
  pthread_key_create(&key, set_again);
  pthread_create(&first, NULL, work, NULL);
  pthread_join(first, NULL);
  assert(times == 3);
#elif defined(HELD_BEFORE)
  // An execution that is given up while a thread holds a lock is no other execution's business.
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&second_lock, &attributes);
  pthread_create(&first, NULL, work, NULL);
  assert(pthread_mutex_lock(&second_lock) == 0);
  wait_for_flag(memory_order_relaxed);
  pthread_mutex_unlock(&second_lock);
  pthread_join(first, NULL);
#elif defined(ATTRIBUTES)
  int kind = 0;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_create(&first, NULL, work, &attributes);
#ifdef JOINED
  pthread_join(first, NULL);
#endif
  pthread_mutexattr_gettype(&attributes, &kind);
#ifdef JOINED
  assert(kind == PTHREAD_MUTEX_RECURSIVE);
#else
  pthread_join(first, NULL);
#endif
#elif defined(AT_EXIT)
  // Handlers that other executions have registered do not run.
  atexit(at_exit);
  pthread_create(&first, NULL, work, NULL);
  (void)atomic_load(&flag);
  pthread_join(first, NULL);
#elif defined(SPIN_LOCK)
  // What an execution initialises, the next one finds as it was before.
  static pthread_spinlock_t spin;
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  pthread_create(&first, NULL, work, NULL);
  (void)atomic_load(&flag);
  pthread_join(first, NULL);
#endif
}
