// SPDX-License-Identifier: MIT
// A mutex.
#include "threads.h"

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int c;
void* f(void* a) {
  pthread_mutex_lock(&m);
  c++;
  pthread_mutex_unlock(&m);
  return 0;
}
int main() {
  run_all(f);
  assert(c == N);
  return 0;
}
