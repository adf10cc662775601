// SPDX-License-Identifier: MIT
// Each thread counts itself, and waits for all.
#include "threads.h"

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
