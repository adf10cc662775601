/* SPDX-License-Identifier: MIT */
/* One thread hands a value over, with or without an acquire. Two executions have no race: ready is seen, or is not. */
#include <genmc.h>
#include <stdatomic.h>

#include "order.h"

static int value;
static atomic_int ready;

static void* write_value(void* unused) {
  value = 1;
  __VERIFIER_optional(atomic_store_explicit(&ready, 1, memory_order_release););
  return unused;
}

int main(void) {
  __VERIFIER_spawn(&write_value, NULL);
  if (atomic_load_explicit(&ready, ORDER) == 1) __VERIFIER_assume(value == 1);
  return 0;
}
