// SPDX-License-Identifier: MIT
// A lock by test and test-and-set.
#include "threads.h"

atomic_int l;
int d;
void* f(void* a) {
  do {
    while (load(l, rlx))
      ;
  } while (atomic_exchange_explicit(&l, 1, acq));
  d++;
  store(l, 0, rel);
  return 0;
}
int main() {
  run_all(f);
  assert(d == N);
  return 0;
}
