// SPDX-License-Identifier: MIT
// What functions of the C library return, what they leave in errno, and what memory of the program they read and write:
// each assertion is what POSIX or C says, and each RACE is an access of the function beside one of the program.
// check -DROBUST: passes
// check -DROBUST_IN_TIME: passes
// check -DROBUST_TIMED_WAIT: passes
// check -DROBUST_NOT_HELD: passes
// check -DROBUST_GIVEN_BACK: passes
// check -DORDER_OF_ERRORS: passes
// check -DRACE=ATTRIBUTES: FAIL data race
// check -DRACE=MUTEX_ATTRIBUTES: FAIL data race
// check -DRACE=CONDITION_ATTRIBUTES: FAIL data race
// check -DRACE=LOCK_ATTRIBUTES: FAIL data race
// check -DRACE=RESULT: FAIL data race
// check -DRACE=KEY: FAIL data race
// check -DRACE=VALUE: FAIL data race
// check -DRACE=TIME_OF_DAY: FAIL data race
// check -DRACE=SECONDS: FAIL data race
// check -DRACE=HANDLE: FAIL data race
// check -DRACE=C11_RESULT: FAIL data race
// check -DRACE=REALLOCATED: FAIL data race
// check -DRACE=HANDED_OUT: FAIL data race
// check -DRACE=COPIED: FAIL data race
// check -DRACE=NOTHING: passes
// check "-DCALL=pthread_cond_broadcast(&changed)": FAIL misuse: the condition variable
// check "-DCALL=(pthread_mutex_lock(&lock), pthread_cond_wait(&changed, &lock))": FAIL misuse: the condition variable
// check "-DCALL=pthread_rwlock_timedrdlock(&shared, &soon)": FAIL misuse: the read-write lock
// check "-DCALL=pthread_spin_unlock(&spin)": FAIL misuse: T0 gives back
// check "-DCALL=block = realloc(at_data, 4)": FAIL misuse: what is freed was not allocated
// check "-DCALL=block = aligned_alloc(24, 48)": FAIL misuse: an alignment of 24 bytes
// check "-DCALL=tss_get(0)": FAIL misuse: a key is used that was not created
// check "-DCALL=tss_delete(0)": FAIL misuse: a key is used that was not created
// check -DSEMAPHORE: passes
// check -DPERMITS_IN_LOOPS: passes
// check -DSPIN_LOCKS_IN_LOOPS: passes
// check -DTRIED_SPIN_LOCKS_IN_LOOPS: passes
// check -DTRIED_SPIN_LOCKS_IN_LOOPS -DHELD: FAIL deadlock
// check -DTRIED_LOCKS_IN_LOOPS: passes
// check -DSPIN_LOCK: passes
// check -DREAD_WRITE_LOCK: passes
// check alone -D_GNU_SOURCE -DREADERS_CLOCK: passes
// check -DBARRIERS: passes
// check -DBARRIERS --barriers-in-order: passes
// check -DCLOCKS --timeouts 0: bounded
// check -DC11: passes
// check -DITSELF: passes
// check -DHEAP: passes
// check -DCOPIES: passes
// check -DWOKEN_OR_LATE --spurious-wakeups 0: passes
// check -DFUTEX_CHANGED: passes
// check -DFUTEX_WOKEN_OR_LATE: passes
// check -DFUTEX_WOKEN_OR_LATE -DWRONG: FAIL assertion
// check -DFUTEX_IN_TIME --timeouts 0: no verdict: all of 1 executions wait for ever
// check -DFUTEX_DURATION: bounded
// check -DFUTEX_WAKES=2 -DWAITERS=2: passes
// check -DFUTEX_WAKES=2 -DWAITERS=3: FAIL deadlock
// check -DFUTEX_WAKES=1 -DWAITERS=2: FAIL deadlock
// check -DFUTEX_WAKES=0 -DWAITERS=1: passes
// check -DFUTEX_BITS: no verdict: not modelled: a futex that tells threads apart by bits
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define ATTRIBUTES 0
#define MUTEX_ATTRIBUTES 1
#define CONDITION_ATTRIBUTES 2
#define LOCK_ATTRIBUTES 3
#define RESULT 4
#define KEY 5
#define VALUE 6
#define TIME_OF_DAY 7
#define SECONDS 8
#define HANDLE 9
#define C11_RESULT 10
#define REALLOCATED 11
#define HANDED_OUT 12
#define COPIED 13
#define NOTHING 14
#ifndef RACE
#define RACE NOTHING
#endif

static int data;
static atomic_int word;
static long woken;
static atomic_int ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t permits;
static const struct timespec soon = {1, 0};
static const struct timespec wrong = {1, 1000 * 1000 * 1000};

union anything {
  pthread_attr_t attributes;
  pthread_mutexattr_t of_mutex;
  pthread_condattr_t of_condition;
  pthread_rwlockattr_t of_lock;
  void* result;
  pthread_key_t key;
  int value;
  struct timeval now;
  time_t seconds;
  thrd_t handle;
};
static union anything touched;
static char* volatile block;
static void* at_data = &data;

static void* do_nothing(void* argument) { return argument; }
static int do_nothing_in_c11(void* argument) { return argument == NULL; }

// The first byte of what the function reads or writes.
static void* touch(void* argument) {
  char* const first = RACE == REALLOCATED ? block : (char*)&touched;
  *first = 1;
  return argument;
}

static void make_robust(int kind) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, kind);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  assert(pthread_mutex_init(&lock, &attributes) == 0);
}

static void* signal_once(void* argument) {
  pthread_mutex_lock(&lock);
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  return argument;
}

static long wait_for_word(int value, const struct timespec* duration) {
  return syscall(SYS_futex, &word, FUTEX_WAIT, value, duration, NULL, 0);
}

static void* work(void* argument) {
#if defined(ROBUST) || defined(ROBUST_IN_TIME) || defined(ROBUST_NOT_HELD)
  assert(pthread_mutex_lock(&lock) == 0);
#elif defined(ROBUST_GIVEN_BACK)
  assert(pthread_mutex_lock(&lock) == 0 && pthread_mutex_unlock(&lock) == 0);
#elif defined(ROBUST_TIMED_WAIT)
  assert(pthread_mutex_lock(&lock) == 0);
  data = 1;
#elif defined(PERMITS_IN_LOOPS)
  while (sem_trywait(&permits) != 0) assert(errno == EAGAIN);
  assert(data == 1);
#elif defined(SPIN_LOCKS_IN_LOOPS)
  for (int seen = 0; seen == 0;) {
    pthread_spin_lock(&spin);
    seen = data;
    pthread_spin_unlock(&spin);
  }
#elif defined(TRIED_SPIN_LOCKS_IN_LOOPS)
  while (pthread_spin_trylock(&spin) != 0) continue;
  ++data;
  pthread_spin_unlock(&spin);
#elif defined(TRIED_LOCKS_IN_LOOPS)
  while (pthread_rwlock_trywrlock(&shared) != 0) continue;
  ++data;
  pthread_rwlock_unlock(&shared);
#elif defined(READ_WRITE_LOCK)
  // The other thread reads: others may read, and nobody may write.
  assert(pthread_rwlock_tryrdlock(&shared) == 0);
  assert(pthread_rwlock_trywrlock(&shared) == EBUSY);
  assert(pthread_rwlock_timedrdlock(&shared, &wrong) == 0 && pthread_rwlock_unlock(&shared) == 0);
  assert(pthread_rwlock_timedwrlock(&shared, &wrong) == EINVAL);
  pthread_rwlock_unlock(&shared);
#elif defined(BARRIERS)
  ++data;
  pthread_barrier_wait(&barrier);
#elif defined(C11)
  assert(mtx_trylock((mtx_t*)&lock) == thrd_busy);
  assert(mtx_timedlock((mtx_t*)&lock, &soon) == thrd_timedout);
#elif defined(ITSELF)
  assert(thrd_join(thrd_current(), NULL) == thrd_error);
#elif defined(WOKEN_OR_LATE)
  pthread_mutex_lock(&lock);
  pthread_t other;
  pthread_create(&other, NULL, signal_once, NULL);
  pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  pthread_join(other, NULL);
#elif defined(FUTEX_CHANGED) || defined(FUTEX_WAKES)
  while (atomic_load_explicit(&word, memory_order_relaxed) == 0) wait_for_word(0, NULL);
#elif defined(FUTEX_WOKEN_OR_LATE)
  woken = syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
#endif
  return argument;
}

static void race(void) {
  extern int memcpy_s(void*, unsigned long, const void*, unsigned long);
  pthread_t writer, other;
  if (RACE == ATTRIBUTES) pthread_attr_init(&touched.attributes);
  if (RACE == MUTEX_ATTRIBUTES) pthread_mutexattr_init(&touched.of_mutex);
  if (RACE == CONDITION_ATTRIBUTES) pthread_condattr_init(&touched.of_condition);
  if (RACE == LOCK_ATTRIBUTES) pthread_rwlockattr_init(&touched.of_lock);
  block = calloc(1, 4);
  pthread_create(&other, NULL, do_nothing, NULL);
  pthread_create(&writer, NULL, touch, NULL);
  pthread_t third;
  // Called by a pointer: of a call by name, compilers make a store of their own.
  int (*volatile hand_out)(void**, size_t, size_t) = posix_memalign;
  (void)third, (void)hand_out;
  switch (RACE) {
    case ATTRIBUTES:
      pthread_create(&third, &touched.attributes, do_nothing, NULL);
      pthread_join(third, NULL);
      break;
    case MUTEX_ATTRIBUTES: pthread_mutex_init(&lock, &touched.of_mutex); break;
    case CONDITION_ATTRIBUTES: pthread_cond_init(&changed, &touched.of_condition); break;
    case LOCK_ATTRIBUTES: pthread_rwlock_init(&shared, &touched.of_lock); break;
    case RESULT: pthread_join(other, &touched.result); break;
    case KEY: pthread_key_create(&touched.key, NULL); break;
    case VALUE:
      sem_init(&permits, 0, 1);
      sem_getvalue(&permits, &touched.value);
      break;
    case TIME_OF_DAY: gettimeofday(&touched.now, NULL); break;
    case SECONDS: time(&touched.seconds); break;
    case HANDLE: thrd_create(&touched.handle, do_nothing_in_c11, NULL); break;
    case C11_RESULT: thrd_join(other, &touched.value); break;
    case REALLOCATED: block = realloc(block, 8); break;
    case HANDED_OUT: assert(hand_out(&touched.result, 16, 16) == 0); break;
    case COPIED: memcpy_s(block, 4, &touched, 4); break;
    default: break;
  }
  pthread_join(writer, NULL);
  if (RACE != RESULT && RACE != C11_RESULT) pthread_join(other, NULL);
  if (RACE == HANDED_OUT) free(touched.result);
  free(block);
}

int main(void) {
  pthread_t first;
  (void)at_data, (void)woken, (void)signal_once, (void)wait_for_word, (void)first, (void)race, (void)make_robust,
      (void)work, (void)wrong, (void)soon, (void)do_nothing_in_c11;
#if defined(ROBUST)
  make_robust(PTHREAD_MUTEX_NORMAL);
  pthread_create(&first, NULL, work, NULL);
  pthread_join(first, NULL);
  assert(pthread_mutex_timedlock(&lock, &wrong) == EOWNERDEAD);
#elif defined(ROBUST_IN_TIME)
  make_robust(PTHREAD_MUTEX_NORMAL);
  pthread_create(&first, NULL, work, NULL);
  pthread_join(first, NULL);
  const int taken = pthread_mutex_timedlock(&lock, &soon);
  assert(taken == EOWNERDEAD || taken == ETIMEDOUT);
#elif defined(ROBUST_NOT_HELD)
  // Only who has the mutex makes it consistent.
  make_robust(PTHREAD_MUTEX_NORMAL);
  pthread_create(&first, NULL, work, NULL);
  pthread_join(first, NULL);
  assert(pthread_mutex_consistent(&lock) == EINVAL);
#elif defined(ROBUST_GIVEN_BACK)
  make_robust(PTHREAD_MUTEX_NORMAL);
  pthread_create(&first, NULL, work, NULL);
  pthread_join(first, NULL);
  assert(pthread_mutex_lock(&lock) == 0 && pthread_mutex_unlock(&lock) == 0);
#elif defined(ROBUST_TIMED_WAIT)
  // The wait ends, by its time or for no reason, and the thread that has taken the mutex meanwhile has ended.
  make_robust(PTHREAD_MUTEX_NORMAL);
  assert(pthread_mutex_lock(&lock) == 0);
  pthread_create(&first, NULL, work, NULL);
  const int waited = pthread_cond_timedwait(&changed, &lock, &soon);
  assert((waited == EOWNERDEAD) == (data == 1));
  pthread_mutex_consistent(&lock);
  pthread_mutex_unlock(&lock);
  pthread_join(first, NULL);
#elif defined(ORDER_OF_ERRORS)
  // A time that is none is an error before that the thread does not have the mutex.
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&lock, &attributes);
  assert(pthread_cond_timedwait(&changed, &lock, &wrong) == EINVAL);
  assert(pthread_cond_timedwait(&changed, &lock, &soon) == EPERM);
#elif defined(SEMAPHORE)
  int value = 0;
  sem_init(&permits, 0, 2);
  assert(sem_getvalue(&permits, &value) == 0 && value == 2);
  assert(sem_trywait(&permits) == 0 && sem_wait(&permits) == 0);
  assert(sem_trywait(&permits) == -1 && errno == EAGAIN);
  assert(sem_getvalue(&permits, &value) == 0 && value == 0);
#elif defined(PERMITS_IN_LOOPS)
  sem_init(&permits, 0, 0);
  pthread_create(&first, NULL, work, NULL);
  data = 1;
  sem_post(&permits);
  pthread_join(first, NULL);
#elif defined(SPIN_LOCKS_IN_LOOPS) || defined(TRIED_SPIN_LOCKS_IN_LOOPS)
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  pthread_create(&first, NULL, work, NULL);
  pthread_spin_lock(&spin);
  ++data;
#ifndef HELD
  pthread_spin_unlock(&spin);
#endif
  pthread_join(first, NULL);
#elif defined(TRIED_LOCKS_IN_LOOPS)
  pthread_create(&first, NULL, work, NULL);
  pthread_rwlock_wrlock(&shared);
  ++data;
  pthread_rwlock_unlock(&shared);
  pthread_join(first, NULL);
#elif defined(SPIN_LOCK)
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  assert(pthread_spin_lock(&spin) == 0 && pthread_spin_unlock(&spin) == 0);
  assert(pthread_spin_trylock(&spin) == 0 && pthread_spin_unlock(&spin) == 0);
#elif defined(READ_WRITE_LOCK)
  // Who reads twice gives back twice.
  assert(pthread_rwlock_rdlock(&shared) == 0 && pthread_rwlock_rdlock(&shared) == 0);
  assert(pthread_rwlock_unlock(&shared) == 0);
  pthread_create(&first, NULL, work, NULL);
  pthread_join(first, NULL);
  assert(pthread_rwlock_unlock(&shared) == 0);
  assert(pthread_rwlock_trywrlock(&shared) == 0 && pthread_rwlock_tryrdlock(&shared) == EBUSY);
  assert(pthread_rwlock_unlock(&shared) == 0);
#elif defined(READERS_CLOCK)
  assert(pthread_rwlock_clockrdlock(&shared, 1000, &soon) == EINVAL);
  assert(pthread_rwlock_clockwrlock(&shared, 1000, &soon) == EINVAL);
#elif defined(BARRIERS)
  // A barrier in the place of another one begins anew.
  for (int life = 0; life != 2; ++life) {
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&first, NULL, work, NULL);
    pthread_barrier_wait(&barrier);
    assert(data == life + 1);
    pthread_join(first, NULL);
    pthread_barrier_destroy(&barrier);
  }
#elif defined(CLOCKS)
  // Time passes while a thread sleeps, in the unit of the function that it calls.
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  end = begin;
  end.tv_sec += 100;
  assert(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == 0);
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  assert(now.tv_sec - begin.tv_sec == 100);
  sleep(7);
  clock_gettime(CLOCK_MONOTONIC, &end);
  assert(end.tv_sec - now.tv_sec == 7);
  usleep(900 * 1000);
  usleep(900 * 1000);
  struct timespec last;
  clock_gettime(CLOCK_MONOTONIC, &last);
  assert((last.tv_sec - end.tv_sec) * 1000 + (last.tv_nsec - end.tv_nsec) / 1000000 == 1800);
  struct timeval of_day;
  gettimeofday(&of_day, NULL);
  assert(of_day.tv_usec >= 0 && of_day.tv_usec < 1000 * 1000);
  time_t seconds = 0;
  assert(time(&seconds) == seconds && seconds >= last.tv_sec);
#elif defined(C11)
  pthread_mutex_lock(&lock);
  pthread_create(&first, NULL, work, NULL);
  pthread_join(first, NULL);
  pthread_mutex_unlock(&lock);
#elif defined(ITSELF)
  pthread_create(&first, NULL, work, NULL);
  pthread_join(first, NULL);
#elif defined(HEAP)
  void* p = NULL;
  assert(posix_memalign(&p, 4, 16) == EINVAL && posix_memalign(&p, 24, 16) == EINVAL && p == NULL);
  assert(posix_memalign(&p, 64, 16) == 0 && (uintptr_t)p % 64 == 0);
  free(p);
  errno = 0;
  void* (*volatile zeros)(size_t, size_t) = calloc;  // which compilers do not leave out
  assert(zeros(SIZE_MAX, 2) == NULL && errno == ENOMEM);
  p = malloc(13);
  memset(p, 0, malloc_usable_size(p));
  free(p);
#elif defined(WOKEN_OR_LATE)
  // Two wait, and one signal goes to either: who has got it is not told that its time is over, and hands it on.
  pthread_mutex_lock(&lock);
  pthread_create(&first, NULL, work, NULL);
  const int waited = pthread_cond_timedwait(&changed, &lock, &soon);
  assert(waited == 0 || waited == ETIMEDOUT);
  if (waited == 0) pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  pthread_join(first, NULL);
#elif defined(COPIES)
  extern int memcpy_s(void*, unsigned long, const void*, unsigned long);
  char text[8] = "abcdef";
  assert(memcpy_s(text + 1, 7, text, 3) == ERANGE && text[0] == 'a' && text[1] == 0 && text[7] == 0);
  assert(memcpy_s(text + 3, 5, "xyz", 3) == 0 && text[3] == 'x' && text[5] == 'z');
#elif defined(FUTEX_CHANGED)
  // Who does not wait, because the value is another one, is not woken in place of who waits.
  assert(wait_for_word(1, NULL) == -1 && errno == EAGAIN);
  pthread_create(&first, NULL, work, NULL);
  atomic_store_explicit(&word, 1, memory_order_relaxed);
  syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
  pthread_join(first, NULL);
#elif defined(FUTEX_WOKEN_OR_LATE)
  // Who was woken is not told that its time is over.
  pthread_create(&first, NULL, work, NULL);
  const long waited = wait_for_word(0, &soon);
  const int error = errno;
  pthread_join(first, NULL);
#ifdef WRONG
  assert(woken == 0);
#else
  assert(waited == 0 ? woken == 1 : error == ETIMEDOUT && woken == 0);
#endif
#elif defined(FUTEX_IN_TIME)
  wait_for_word(0, &soon);
#elif defined(FUTEX_DURATION)
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  if (wait_for_word(0, &soon) == -1) {
    clock_gettime(CLOCK_MONOTONIC, &end);
    assert(end.tv_sec > begin.tv_sec);
  }
#elif defined(FUTEX_WAKES)
  // A futex wakes as many as it is asked for, and one if that is none.
  pthread_t waiting[WAITERS];
  for (int i = 0; i != WAITERS; ++i) pthread_create(&waiting[i], NULL, work, NULL);
  atomic_store_explicit(&word, 1, memory_order_relaxed);
  syscall(SYS_futex, &word, FUTEX_WAKE, FUTEX_WAKES, NULL, NULL, 0);
  for (int i = 0; i != WAITERS; ++i) pthread_join(waiting[i], NULL);
#elif defined(FUTEX_BITS)
  syscall(SYS_futex, &word, FUTEX_WAKE_BITSET, 1, NULL, NULL, 1);
#elif defined(CALL)
  // With an object that was destroyed, or that never was one.
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  pthread_cond_destroy(&changed);
  pthread_rwlock_destroy(&shared);
  CALL;
#else
  race();
#endif
}
