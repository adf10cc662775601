// SPDX-License-Identifier: MIT
// One thread puts while the other one gets from a full ring: no element is lost.
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "ring_buf.h"

static RingBuf ring;
static RingBufElement slots[3];  // one stays free

static void* get_one(void* nothing) {
  RingBufElement element = 0;
  RingBuf_get(&ring, &element);
  return nothing;
}

int main(void) {
  RingBuf_ctor(&ring, slots, 3);
  RingBufElement element = 0;
  int count = 0;
  for (int i = 0; i != 2; ++i) {  // so that the tail is at the last slot
    RingBuf_put(&ring, 1);
    RingBuf_get(&ring, &element);
  }
  count += RingBuf_put(&ring, 2);
  count += RingBuf_put(&ring, 3);
  pthread_t consumer;
  pthread_create(&consumer, NULL, get_one, NULL);
  count += RingBuf_put(&ring, 4);
  count += RingBuf_put(&ring, 5);
  pthread_join(consumer, NULL);
  --count;
  while (RingBuf_get(&ring, &element)) --count;
  assert(count == 0);
  return 0;
}
