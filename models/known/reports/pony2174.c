// SPDX-License-Identifier: MIT
// Two threads push a message each and pop: a pop after a push finds one.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "actor/messageq.h"
#include "mem/pool.h"

static messageq_t queue;

void* ponyint_pool_alloc(size_t index) {
  (void)index;
  return malloc(64);
}
void ponyint_pool_free(size_t index, void* memory) {
  (void)index;
  free(memory);
}
void ponyint_assert_fail(const char* text, const char* file, size_t line, const char* function) {
  (void)text, (void)file, (void)line, (void)function;
  abort();
}

static pony_msg_t* message_of(uint32_t id) {
  pony_msg_t* const message = malloc(sizeof *message);
  message->index = 0;
  message->id = id;
  return message;
}

static void* send_second(void* nothing) {
  ponyint_messageq_push(&queue, message_of(2));
  return nothing;
}

int main(void) {
  ponyint_messageq_init(&queue);
  pthread_t other;
  pthread_create(&other, NULL, send_second, NULL);
  ponyint_messageq_push(&queue, message_of(1));
  pthread_join(other, NULL);
  for (int count = 0; count < 2; ++count) assert(ponyint_messageq_pop(&queue) != NULL);
  ponyint_messageq_destroy(&queue);
  return 0;
}
