// SPDX-License-Identifier: MIT
// Robust mutexes: a thread ends that has one, and the next one learns of it.
// check -DDIES: passes, 2 executions
// check -DDIES -DWRONG: FAIL assertion
// check -DDIES -DSTALLED: FAIL misuse: T1 has ended while it holds
// check -DDIES -DTRIES: passes
// check -DDIES -DTWICE: passes, 2 executions
// check -DDIES -DRECURSIVE: passes, 2 executions
// check -DGIVES_UP: passes
// check -DGIVES_UP -DWRONG: FAIL assertion
// check -DCALLS: passes
// check -DWAITS --spurious-wakeups 0: bounded, 1 execution
// check -DDIES -DUNORDERED: FAIL data race
#include <assert.h>
#include <errno.h>
#include <pthread.h>

pthread_mutex_t lock;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int data = 0;

static void* take_and_die(void* argument) {
#ifdef WAITS
  assert(pthread_mutex_lock(&lock) == 0);
  pthread_cond_signal(&changed);
#else
  const int taken = pthread_mutex_lock(&lock);
  assert(taken == 0 || taken == EOWNERDEAD);
#ifdef RECURSIVE
  assert(pthread_mutex_lock(&lock) == 0);
#endif
#endif
  data = 1;
  return argument;
}

static void init(int kind, int robust) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, kind);
  pthread_mutexattr_setrobust(&attributes, robust);
  assert(pthread_mutex_init(&lock, &attributes) == 0);
  pthread_mutexattr_destroy(&attributes);
}

int main(void) {
  pthread_t t, u;
  (void)t, (void)u, (void)take_and_die;
#ifdef STALLED
  init(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED);
#elif defined(RECURSIVE)
  init(PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ROBUST);
#else
  init(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
#endif
#if defined(DIES)
  pthread_create(&t, NULL, take_and_die, NULL);
#if defined(UNORDERED)
  assert(data <= 1);
#endif
#if defined(TWICE)
  pthread_create(&u, NULL, take_and_die, NULL);
  pthread_join(u, NULL);
  pthread_join(t, NULL);
#endif
#if defined(TRIES)
  int taken;
  do {
    taken = pthread_mutex_trylock(&lock);
  } while (taken == EBUSY);
#else
  const int taken = pthread_mutex_lock(&lock);
#endif
#ifdef WRONG
  assert(taken == 0);
#endif
  assert(taken == (data == 1 ? EOWNERDEAD : 0));
  if (taken == EOWNERDEAD) {
    data = 0;
    assert(pthread_mutex_consistent(&lock) == 0);
    assert(pthread_mutex_consistent(&lock) == EINVAL);
  }
  assert(pthread_mutex_unlock(&lock) == 0);
#ifndef TWICE
  pthread_join(t, NULL);
#endif
#elif defined(GIVES_UP)
  // Without pthread_mutex_consistent(), nobody can take the mutex any more.
  pthread_create(&t, NULL, take_and_die, NULL);
  pthread_join(t, NULL);
  assert(pthread_mutex_lock(&lock) == EOWNERDEAD);
  assert(pthread_mutex_unlock(&lock) == 0);
#ifdef WRONG
  assert(pthread_mutex_lock(&lock) == 0);
#else
  assert(pthread_mutex_lock(&lock) == ENOTRECOVERABLE);
  assert(pthread_mutex_trylock(&lock) == ENOTRECOVERABLE);
  assert(pthread_mutex_unlock(&lock) == EPERM);
  assert(pthread_mutex_destroy(&lock) == 0);
#endif
#elif defined(CALLS)
  assert(pthread_mutex_consistent(&lock) == EINVAL);
  assert(pthread_mutex_unlock(&lock) == EPERM);
  assert(pthread_mutex_lock(&lock) == 0);
  assert(pthread_mutex_consistent(&lock) == EINVAL);
  assert(pthread_mutex_unlock(&lock) == 0);
#elif defined(WAITS)
  // Who waits for the condition variable takes the mutex from the thread that has ended.
  assert(pthread_mutex_lock(&lock) == 0);
  pthread_create(&t, NULL, take_and_die, NULL);
  assert(pthread_cond_wait(&changed, &lock) == EOWNERDEAD);
  assert(data == 1 && pthread_mutex_consistent(&lock) == 0);
  assert(pthread_mutex_unlock(&lock) == 0);
  pthread_join(t, NULL);
#endif
}
