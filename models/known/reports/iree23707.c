// SPDX-License-Identifier: MIT
// Two producers and a consumer: an entry that is not read yet is not overwritten.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "iree/base/internal/mpsc_queue.h"

// What of the library is no header: no call fails here.
iree_status_t iree_status_allocate(iree_status_code_t code, const char* file, uint32_t line,
                                   iree_string_view_t message) {
  (void)code, (void)file, (void)line, (void)message;
  abort();
}
iree_status_t iree_status_allocate_f(iree_status_code_t code, const char* file, uint32_t line, const char* format,
                                     ...) {
  (void)code, (void)file, (void)line, (void)format;
  abort();
}

static _Alignas(64) char memory[256 + 64];
static iree_mpsc_queue_t queue;

static void produce(uint32_t value) {  // an entry takes half of the queue
  char payload[28] = {(char)value};
  iree_mpsc_queue_write(&queue, payload, sizeof payload);
}

static uint32_t consume(void) {
  char payload[28] = {0};
  iree_host_size_t length = 0;
  return iree_mpsc_queue_read(&queue, payload, sizeof payload, &length) ? (uint32_t)payload[0] : 0;
}

static void* produce_third(void* nothing) {
  produce(4);
  return nothing;
}

int main(void) {
  iree_mpsc_queue_initialize(memory, sizeof memory, 64, &queue);
  produce(1);
  produce(2);
  pthread_t other;
  pthread_create(&other, NULL, produce_third, NULL);
  assert(consume() == 1);
  produce(3);
  assert(consume() == 2);
  pthread_join(other, NULL);
  return 0;
}
