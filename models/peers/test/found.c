/* SPDX-License-Identifier: MIT */
/* What the harness's headers offer to a program in C: two threads find out who they are. */
#include <stdatomic.h>
#include <threads.h>

#include "librace.h"
#include "model-assert.h"

static thrd_t threads[2];
static uint32_t found[2];
static atomic_int ready;

static void look(void* argument) {
  const int me = *(int*)argument;
  const bool same = thrd_current().priv == threads[me].priv;
  store_32(&found[me], same);
  atomic_fetch_add_explicit(&ready, 1, memory_order_release);
  while (atomic_load_explicit(&ready, memory_order_acquire) != 2) thrd_yield();
  MODEL_ASSERT(load_32(&found[1 - me]) == 1);
}

int user_main(int argc, char** argv) {
  static int numbers[2] = {0, 1};
  for (int i = 0; i != 2; ++i) thrd_create(&threads[i], &look, &numbers[i]);
  for (int i = 0; i != 2; ++i) thrd_join(threads[i]);
  return 0;
}
