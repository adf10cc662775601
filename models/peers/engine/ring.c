// SPDX-License-Identifier: MIT
// A ring: its owner pushes 2 and pops 1; each other thread takes one.
#include "threads.h"

atomic_uint head_, tail_;
atomic_int slot[4];
atomic_int ran;
void* f(void* a) {
  if (a == 0) {
    for (unsigned i = 0; i < 2; i++) {
      store(slot[i], (int)i + 1, rlx);
      store(tail_, i + 1, rel);
    }
    unsigned h = load(head_, acq);
    while (h != 2) {
      int v = load(slot[h], rlx);
      if (exchange(head_, h, h + 1, acq_rel, acq)) {
        assert(v == (int)h + 1);
        break;
      }
    }
    return 0;
  }
  unsigned h = load(head_, acq);
  for (;;) {
    if (h == load(tail_, acq)) return 0;
    int v = load(slot[h], rlx);
    if (exchange(head_, h, h + 1, acq_rel, acq)) {
      assert(v == (int)h + 1);
      add(ran, 1, rlx);
      return 0;
    }
  }
}
int main() {
  run_all(f);
  return 0;
}
