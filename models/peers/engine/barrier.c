// SPDX-License-Identifier: MIT
// A barrier of pthreads: what was stored before it is seen after it.
#include "threads.h"

pthread_barrier_t b;
atomic_int x[N];
void* f(void* a) {
  long i = (long)a;
  store(x[i], 1, rlx);
  pthread_barrier_wait(&b);
  int v = load(x[(i + 1) % N], rlx);
  assert(v == 1);
  return 0;
}
int main() {
  pthread_barrier_init(&b, 0, N);
  run_all(f);
  return 0;
}
