/* SPDX-License-Identifier: MIT */
/* A lock in inline assembly, which is right. HARMLESS: nothing but hints, and a lock that is seen. */
#include <assert.h>
#include <pthread.h>

static int locked;
static int counter;

static void lock(void) {
#ifdef HARMLESS
  while (__atomic_exchange_n(&locked, 1, __ATOMIC_ACQUIRE) != 0) __asm__ __volatile__("pause" ::: "memory");
#else
  int was = 1;
  do {
    was = 1;
    __asm__ __volatile__("xchgl %0,%1" : "+r"(was), "+m"(locked)::"memory");
  } while (was != 0);
#endif
}

static void unlock(void) {
  __asm__ __volatile__("" ::: "memory");
#ifdef HARMLESS
  __atomic_store_n(&locked, 0, __ATOMIC_RELEASE);
#else
  __asm__ __volatile__("movl $0,%0" : "+m"(locked)::"memory");
#endif
}

static void* count(void* unused) {
  lock();
#ifndef ALONE
  ++counter;
#endif
  unlock();
  return unused;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, 0, count, 0);
  count(0);
  pthread_join(other, 0);
#ifdef NDEBUG
  return counter;
#endif
  assert(counter != 7);
  return 0;
}
