// SPDX-License-Identifier: MIT
// What the programs of this folder share: N threads that all run one function, and short names of C11's atomics.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define rlx memory_order_relaxed
#define acq memory_order_acquire
#define rel memory_order_release
#define acq_rel memory_order_acq_rel
#define sc memory_order_seq_cst
#define load(x, order) atomic_load_explicit(&(x), order)
#define store(x, value, order) atomic_store_explicit(&(x), value, order)
#define add(x, value, order) atomic_fetch_add_explicit(&(x), value, order)
#define exchange(x, expected, desired, success, failure) \
  atomic_compare_exchange_strong_explicit(&(x), &(expected), desired, success, failure)

static void run_all(void* (*function)(void*)) {
  pthread_t threads[N];
  for (long i = 0; i < N; i++) pthread_create(&threads[i], 0, function, (void*)i);
  for (long i = 0; i < N; i++) pthread_join(threads[i], 0);
}
