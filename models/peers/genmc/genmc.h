/* SPDX-License-Identifier: MIT */
/* What programs that were written for GenMC declare by its header. */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
void __VERIFIER_assume(int condition);
#ifdef __cplusplus
}
#endif

typedef pthread_t __VERIFIER_thread_t;
static inline __VERIFIER_thread_t __VERIFIER_spawn(void* (*start)(void*), void* argument) {
  pthread_t thread;
  pthread_create(&thread, NULL, start, argument);
  return thread;
}
/* Hints, by which GenMC explores fewer executions: which threads are alike, which compare-exchange does the work of
   another thread, which read is repeated before it counts, what a loop may leave out. */
#define __VERIFIER_spawn_symmetric(start, argument, like) __VERIFIER_spawn(start, argument)
#define __VERIFIER_helped_CAS(statement) \
  do {                                   \
    statement;                           \
  } while (0)
#define __VERIFIER_helping_CAS(statement) \
  do {                                    \
    statement;                            \
  } while (0)
#define __VERIFIER_CAS_helped_explicit atomic_compare_exchange_strong_explicit
#define __VERIFIER_CAS_helping_explicit atomic_compare_exchange_strong_explicit
#define __VERIFIER_final_write(statement) \
  do {                                    \
    statement;                            \
  } while (0)
#define __VERIFIER_local_write(statement) \
  do {                                    \
    statement;                            \
  } while (0)
#define __VERIFIER_optional(statement) \
  do {                                 \
    statement;                         \
  } while (0)
#define __VERIFIER_speculative_read(operation) (operation)
#define __VERIFIER_confirming_read(operation) (operation)
#define __VERIFIER_confirming_CAS(operation) (operation)
#define __VERIFIER_final_CAS(operation) (operation)
