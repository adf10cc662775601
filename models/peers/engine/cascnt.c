// SPDX-License-Identifier: MIT
// A counter, by compare-exchange.
#include "threads.h"

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
