// SPDX-License-Identifier: MIT
// Two actors send a message, and one receives.
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
  pony_msg_t* const second = message_of(2);
  ponyint_actor_messageq_push(&queue, second, second);
  return nothing;
}

int main(void) {
  ponyint_messageq_init(&queue);
  pthread_t other;
  pthread_create(&other, NULL, send_second, NULL);
  pony_msg_t* const first = message_of(1);
  ponyint_actor_messageq_push(&queue, first, first);
  for (int count = 0; count < 2;) {
    const pony_msg_t* message = ponyint_actor_messageq_pop(&queue);
    if (message != NULL) ++count;
    if (message != NULL && message->id == 0) abort();
  }
  pthread_join(other, NULL);
  ponyint_messageq_destroy(&queue, false);
  return 0;
}
