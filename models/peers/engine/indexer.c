// SPDX-License-Identifier: MIT
// A hash table: threads whose entries mostly do not collide.
#include "threads.h"

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
