// SPDX-License-Identifier: MIT
// Two threads lock and unlock.
#include "clh_mutex.h"

static clh_mutex_t mutex;
static int counter;

static void* increment(void* nothing) {
  clh_mutex_lock(&mutex);
  ++counter;
  clh_mutex_unlock(&mutex);
  return nothing;
}

int main(void) {
  clh_mutex_init(&mutex);
  pthread_t other;
  pthread_create(&other, NULL, increment, NULL);
  increment(NULL);
  pthread_join(other, NULL);
  clh_mutex_destroy(&mutex);
  return counter == 2 ? 0 : 1;
}
