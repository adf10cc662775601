// SPDX-License-Identifier: MIT
// A scheduler has pushed two tasks; another one takes at most one of them, so the first finds one.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "mem/pool.h"
#include "sched/cpu.h"
#include "sched/mpmcq.h"

static _Thread_local void* spare;  // the pool gives a thread the node that it has freed

void* ponyint_pool_alloc(size_t index) {
  (void)index;
  void* const memory = spare != NULL ? spare : malloc(64);
  spare = NULL;
  return memory;
}
void ponyint_pool_free(size_t index, void* memory) {
  (void)index;
  spare = memory;
}
void ponyint_cpu_relax(void) {}

static mpmcq_t queue, queue_of_thief;
static int tasks[2];

static void* steal(void* nothing) {
  void* const stolen = ponyint_mpmcq_pop(&queue);
  if (stolen != NULL) ponyint_mpmcq_push(&queue_of_thief, stolen);
  return nothing;
}

int main(void) {
  ponyint_mpmcq_init(&queue);
  ponyint_mpmcq_init(&queue_of_thief);
  ponyint_mpmcq_push(&queue, &tasks[0]);
  ponyint_mpmcq_push(&queue, &tasks[1]);
  pthread_t thief;
  pthread_create(&thief, NULL, steal, NULL);
  assert(ponyint_mpmcq_pop(&queue) != NULL);
  pthread_join(thief, NULL);
  return 0;
}
