// SPDX-License-Identifier: MIT
// Annotations of other checkers: conditions under which an execution counts, and code that must not be reached.
// check: exhaustive, 4 executions
// check -DASSUME: exhaustive, 2 executions
// check -DERROR: FAIL __VERIFIER_error() is reached
// check -DANY: FAIL the program ends with status 1
// check --nondet 0..0 -DANY: bounded, 4 executions
// check -DVALUES: bounded, 64 executions
// check --nondet -2..1 -DVALUES: bounded, 32 executions
// check --nondet 250..300 -DVALUES: bounded, 1224 executions
// check --nondet -2..-1 -DVALUES: no verdict: __VERIFIER_nondet_uchar(): its type has no value of --nondet -2..-1
// check -DDOUBLE: no verdict: not modelled: __VERIFIER_nondet_double()
// check -DHINTS: exhaustive, 4 executions
// check -DCOPY: exhaustive, 4 executions
// check -DCOPY -DRACE: FAIL data race
// check -DSET: exhaustive, 4 executions
// check -DSET -DRACE: FAIL data race
// check -DNONE: no verdict: all of 4 executions
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

void __VERIFIER_assume(int);
void __VERIFIER_error(void);
bool __VERIFIER_nondet_bool(void);
int __VERIFIER_nondet_int(void);
unsigned char __VERIFIER_nondet_uchar(void);
double __VERIFIER_nondet_double(void);
void __VERIFIER_loop_begin(void);
void __VERIFIER_loop_bound(int);
void __VERIFIER_spin_start(void);
void __VERIFIER_spin_end(int);
pthread_t __VERIFIER_spawn(void* (*)(void*), void*);
pthread_t __VERIFIER_spawn_symmetric(void* (*)(void*), void*, pthread_t);

static atomic_int x;

static void* write_it(void* value) {
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  return value;
}

static char from[20] = "twenty", to[20];
static void* copy_it(void* unused) {
  extern int memcpy_s(void*, unsigned long, const void*, unsigned long);
  extern int memset_s(void*, unsigned long, int, unsigned long);
#if defined(SET)
  memset_s(to, sizeof to, 'a', 7);
#else
  memcpy_s(to, sizeof to, from, 7);
#endif
  return unused;
}

int main(void) {
  pthread_t writer;
#ifdef HINTS
  writer = __VERIFIER_spawn(write_it, NULL);
#else
  pthread_create(&writer, NULL, write_it, NULL);
#endif
#if defined(COPY) || defined(SET)
  const pthread_t copier = __VERIFIER_spawn_symmetric(copy_it, NULL, writer);
#ifdef RACE
  if (to[6] != 0) return 0;
#endif
  pthread_join(copier, NULL);
  extern int memcpy_s(void*, unsigned long, const void*, unsigned long);
  extern int memset_s(void*, unsigned long, int, unsigned long);
#ifdef SET
  if (to[6] != 'a' || to[7] != 0 || memset_s(to, sizeof to, 1, sizeof to + 1) != ERANGE || to[19] != 1) return 2;
#else
  if (to[5] != 'y' || memcpy_s(to, sizeof to, from, sizeof to + 1) != ERANGE || to[5] != 0) return 2;
#endif
#endif
  const bool chosen = __VERIFIER_nondet_bool();
  const int read = atomic_load_explicit(&x, memory_order_relaxed);
#if defined(ASSUME)
  __VERIFIER_assume(read == 1);
#elif defined(ERROR)
  if (chosen && read == 1) __VERIFIER_error();
#elif defined(ANY)
  return __VERIFIER_nondet_int();
#elif defined(VALUES)
  const int value = __VERIFIER_nondet_int();
  const unsigned char byte = __VERIFIER_nondet_uchar();
  if (value > 1000 && byte > value) __VERIFIER_error();
#elif defined(DOUBLE)
  return __VERIFIER_nondet_double() > 1;
#elif defined(HINTS)
  __VERIFIER_loop_begin();
  __VERIFIER_spin_start();
  __VERIFIER_loop_bound(3);
  __VERIFIER_spin_end(1);
#elif defined(NONE)
  __VERIFIER_assume(read == 2);
#endif
  pthread_join(writer, NULL);
  return chosen && read == 2;
}
