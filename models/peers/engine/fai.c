// SPDX-License-Identifier: MIT
// A counter, by fetch-and-add.
#include "threads.h"

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
