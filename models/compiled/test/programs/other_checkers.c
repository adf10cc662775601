// SPDX-License-Identifier: MIT
// Annotations of other checkers: conditions under which an execution counts, and code that must not be reached.
// check: exhaustive, 4 executions
// check -DASSUME: exhaustive, 2 executions
// check -DERROR: FAIL __VERIFIER_error() is reached
// check -DANY: no verdict: not modelled: __VERIFIER_nondet_int()
// check -DNONE: no verdict: all of 4 executions
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

void __VERIFIER_assume(int);
void __VERIFIER_error(void);
bool __VERIFIER_nondet_bool(void);
int __VERIFIER_nondet_int(void);

static atomic_int x;

static void* write_it(void* value) {
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  return value;
}

int main(void) {
  pthread_t writer;
  pthread_create(&writer, NULL, write_it, NULL);
  const bool chosen = __VERIFIER_nondet_bool();
  const int read = atomic_load_explicit(&x, memory_order_relaxed);
#if defined(ASSUME)
  __VERIFIER_assume(read == 1);
#elif defined(ERROR)
  if (chosen && read == 1) __VERIFIER_error();
#elif defined(ANY)
  return __VERIFIER_nondet_int();
#elif defined(NONE)
  __VERIFIER_assume(read == 2);
#endif
  pthread_join(writer, NULL);
  return chosen && read == 2;
}
