// SPDX-License-Identifier: MIT
// A pair is read in two halves, and replaced as a whole if it is still what was read; with BLIND, whatever it is. What
// a failed compare-exchange has seen lies where the halves were stored.
#include <assert.h>
#include <threads.h>

typedef union {
  struct {
    long object;
    long counter;
  };
  __int128 whole;
} pair;

static pair last;

int count(void* unused) {
  (void)unused;
  pair seen;
  seen.object = last.object;    // one half
  seen.counter = last.counter;  // the other half
  pair wanted;
#if defined(BLIND)
  wanted.object = seen.object + 1;
  wanted.counter = seen.counter + 1;
  while (!__atomic_compare_exchange_n(&last.whole, &seen.whole, wanted.whole, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
  }
#else
  do {
    wanted.object = seen.object + 1;
    wanted.counter = seen.counter + 1;
  } while (!__atomic_compare_exchange_n(&last.whole, &seen.whole, wanted.whole, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
#endif
  return 0;
}

int main(void) {
  thrd_t t;
  if (thrd_create(&t, count, 0) != thrd_success) return 1;
  count(0);
  thrd_join(t, 0);
  assert(last.object == 2 && last.counter == 2);
  return 0;
}
