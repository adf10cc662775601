// SPDX-License-Identifier: MIT
// A seqlock: two writes, N-1 readers.
#include "threads.h"

atomic_uint q;
atomic_int a_, b_;
void* f(void* a) {
  if (!a) {
    for (int k = 0; k < 2; k++) {
      unsigned s = load(q, rlx);
      store(q, s + 1, rlx);
      atomic_thread_fence(rel);
      store(a_, k + 1, rlx);
      store(b_, k + 1, rlx);
      store(q, s + 2, rel);
    }
    return 0;
  }
  unsigned s;
  int u, v;
  do {
    s = load(q, acq);
    u = load(a_, rlx);
    v = load(b_, rlx);
    atomic_thread_fence(acq);
  } while ((s & 1) || load(q, rlx) != s);
  assert(u == v);
  return 0;
}
int main() {
  run_all(f);
  return 0;
}
