// SPDX-License-Identifier: MIT
// A ticket lock.
#include "threads.h"

atomic_int nx, ow;
int d;
void* f(void* a) {
  int t = add(nx, 1, rlx);
  while (load(ow, acq) != t)
    ;
  d++;
  store(ow, t + 1, rel);
  return 0;
}
int main() {
  run_all(f);
  assert(d == N);
  return 0;
}
