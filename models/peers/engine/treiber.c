// SPDX-License-Identifier: MIT
// A Treiber stack: each thread pushes one node and pops one.
#include "threads.h"

struct node {
  _Atomic(struct node*) next;
  int v;
};
struct node n[N];
_Atomic(struct node*) top;
atomic_int got[N];
void* f(void* a) {
  long i = (long)a;
  struct node* me = &n[i];
  me->v = (int)i;
  struct node* t = load(top, rlx);
  for (;;) {
    store(me->next, t, rlx);
    if (exchange(top, t, me, rel, rlx)) break;
  }
  for (;;) {
    t = load(top, acq);
    if (!t) return 0;
    struct node* x = load(t->next, rlx);
    if (exchange(top, t, x, acq, rlx)) {
      add(got[t->v], 1, rlx);
      return 0;
    }
  }
}
int main() {
  run_all(f);
  int s = 0;
  for (int i = 0; i < N; i++) s += load(got[i], rlx);
  assert(s == N);
  return 0;
}
