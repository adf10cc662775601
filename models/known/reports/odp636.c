// SPDX-License-Identifier: MIT
// Two elements are enqueued and dequeued by two threads: nobody dequeues what nobody has enqueued.
#include <assert.h>
#include <pthread.h>

#include "odp_ring_internal.h"

static _Alignas(64) union {
  ring_t ring;
  uint32_t memory[64];
} shared;

static void* dequeue(void* nothing) {
  const uint32_t value = ring_deq(&shared.ring, 3);
  assert(value == RING_EMPTY || value == 5 || value == 6);
  return nothing;
}

int main(void) {
  ring_init(&shared.ring);
  pthread_t consumer;
  pthread_create(&consumer, NULL, dequeue, NULL);
  ring_enq(&shared.ring, 3, 5);
  dequeue(NULL);
  pthread_join(consumer, NULL);
  return 0;
}
