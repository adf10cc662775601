// SPDX-License-Identifier: MIT
// The read-write lock of Linux: a writer and N-1 readers.
#include "threads.h"

#define B 0x100000
atomic_int l = B;
int d;
void* f(void* a) {
  if (!a) {
    int p = atomic_fetch_sub_explicit(&l, B, acq);
    while (p != B) {
      add(l, B, rlx);
      while (load(l, rlx) != B)
        ;
      p = atomic_fetch_sub_explicit(&l, B, acq);
    }
    d = 1;
    add(l, B, rel);
  } else {
    int p = atomic_fetch_sub_explicit(&l, 1, acq);
    while (p <= 0) {
      add(l, 1, rlx);
      while (load(l, rlx) <= 0)
        ;
      p = atomic_fetch_sub_explicit(&l, 1, acq);
    }
    int v = d;
    assert(v == 0 || v == 1);
    add(l, 1, rel);
  }
  return 0;
}
int main() {
  run_all(f);
  return 0;
}
