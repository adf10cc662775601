// SPDX-License-Identifier: MIT
// Threads of pthreads that end: with a robust mutex, and with a cleanup handler.
// Each program has a macro, which stands first in its lines `// check`. The last program has none.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>

#if defined(HANDLERS)

// The handlers of pthread_cleanup_push(), as C has them, run where they are taken back. That a thread ends with them is
// not modelled.
// check -DHANDLERS: bounded; code that is not seen (named below)
// check -DHANDLERS -DTWICE: FAIL assertion
// check -DHANDLERS -DENDS: no verdict: not modelled: pthread_exit() with a handler of pthread_cleanup_push()
// check -DHANDLERS -DENDS_LATER: bounded

int ended;
void end(void* unused) {
  (void)unused;
  ++ended;
}

void* work(void* unused) {
  pthread_cleanup_push(end, unused);
#ifdef ENDS
  pthread_exit(NULL);
#endif
  pthread_cleanup_pop(1);
#ifdef TWICE
  end(NULL);
#endif
#ifdef ENDS_LATER
  pthread_exit(NULL);
#endif
  return NULL;
}

int main() {
  pthread_t other;
  pthread_create(&other, NULL, work, NULL);
  pthread_join(other, NULL);
  assert(ended == 1);
}

#else

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

#endif
