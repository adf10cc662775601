// SPDX-License-Identifier: MIT
// Message passing by fences, in C11. A release fence orders what is before it against a relaxed store after it; an
// acquire fence orders a relaxed load before it against what is after it. On the wrong side of the flag a fence does
// nothing.
// check: exhaustive, 2 executions
// check -DWRONG: FAIL data race
// check -DWRONG_READER: FAIL data race
#include <assert.h>
#include <stdatomic.h>
#include <threads.h>

int data = 0;
atomic_int ready = 0;

int write_data(void* unused) {
  (void)unused;
  data = 42;
#ifdef WRONG
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  atomic_thread_fence(memory_order_release);
#else
  atomic_thread_fence(memory_order_release);
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
#endif
  return 0;
}

int main(void) {
  thrd_t writer;
  thrd_create(&writer, write_data, NULL);
#ifdef WRONG_READER
  atomic_thread_fence(memory_order_acquire);
  const int seen = atomic_load_explicit(&ready, memory_order_relaxed);
#else
  const int seen = atomic_load_explicit(&ready, memory_order_relaxed);
  atomic_thread_fence(memory_order_acquire);
#endif
  if (seen) assert(data == 42);
  thrd_join(writer, NULL);
}
