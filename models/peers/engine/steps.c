// SPDX-License-Identifier: MIT
// Threads that make a step or a few, alone or in a loop. A macro chooses the program.
#include "threads.h"

#if defined(FAI)
// A counter, by fetch-and-add.
atomic_int c;
void* f(void* a) {
  add(c, 1, rlx);
  return 0;
}
int main() {
  run_all(f);
  assert(load(c, rlx) == N);
  return 0;
}

#elif defined(CASCNT)
// A counter, by compare-exchange.
atomic_int c;
void* f(void* a) {
  int e = load(c, rlx);
  while (!exchange(c, e, e + 1, rlx, rlx))
    ;
  return 0;
}
int main() {
  run_all(f);
  assert(load(c, rlx) == N);
  return 0;
}

#elif defined(SBN)
// Store buffering around a ring of N threads.
atomic_int x[N];
int r[N];
void* f(void* a) {
  long i = (long)a;
  store(x[i], 1, rlx);
  r[i] = load(x[(i + 1) % N], rlx);
  return 0;
}
int main() {
  run_all(f);
  return 0;
}

#elif defined(INDEXER)
// A hash table: threads whose entries mostly do not collide.
#define SIZE 128
#define MAX 4
atomic_int tb[SIZE];
void* f(void* a) {
  int m = 0, tid = (int)(long)a;
  while (m < MAX) {
    int w = (++m) * 11 + tid;
    int h = (w * 7) % SIZE;
    int e = 0;
    while (!exchange(tb[h], e, w, acq_rel, acq_rel)) {
      e = 0;
      h = (h + 1) % SIZE;
    }
  }
  return 0;
}
int main() {
  run_all(f);
  return 0;
}

#elif defined(AWAIT)
// Each thread counts itself, and waits for all.
atomic_int c;
void* f(void* a) {
  add(c, 1, acq_rel);
  while (load(c, acq) < N)
    ;
  return 0;
}
int main() {
  run_all(f);
  return 0;
}

#elif defined(BARRIER)
// A barrier of pthreads: what was stored before it is seen after it.
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

#else
#error "which program?"
#endif
