// SPDX-License-Identifier: MIT
// Store buffering around a ring of N threads.
#include "threads.h"

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
