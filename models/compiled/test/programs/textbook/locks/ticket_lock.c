// SPDX-License-Identifier: MIT
// A ticket lock, in C11: draw a number, wait until it is served. Fair: first come, first served. Drawing may be
// relaxed, but it has to be one step, or two threads draw the same number, and the next one is never served.
// check: exhaustive
// check -DWRONG: FAIL data race
// check -DTWO_STEPS: FAIL deadlock
#include <assert.h>
#include <stdatomic.h>
#include <threads.h>

#ifdef WRONG
#define HANDING_ON memory_order_relaxed
#else
#define HANDING_ON memory_order_release
#endif

atomic_uint next_number = 0, served = 0;
int data = 0;

unsigned draw(void) {
#ifdef TWO_STEPS
  const unsigned mine = atomic_load_explicit(&next_number, memory_order_relaxed);
  atomic_store_explicit(&next_number, mine + 1, memory_order_relaxed);
  return mine;
#else
  return atomic_fetch_add_explicit(&next_number, 1, memory_order_relaxed);
#endif
}

int work(void* unused) {
  (void)unused;
  const unsigned mine = draw();
  while (atomic_load_explicit(&served, memory_order_acquire) != mine) thrd_yield();
  ++data;
  atomic_store_explicit(&served, mine + 1, HANDING_ON);
  return 0;
}

int main(void) {
  thrd_t a, b;
  thrd_create(&a, work, NULL);
  thrd_create(&b, work, NULL);
  thrd_join(a, NULL);
  thrd_join(b, NULL);
  assert(data == 2);
}
