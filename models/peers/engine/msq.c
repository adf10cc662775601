// SPDX-License-Identifier: MIT
// The queue of Michael and Scott: even threads put one node in, odd threads take one out.
#include "threads.h"

struct node {
  _Atomic(struct node*) next;
  int v;
};
struct node n[N + 1];
_Atomic(struct node*) hd, tl;
void* f(void* a) {
  long i = (long)a;
  if (i % 2 == 0) {
    struct node* me = &n[i];
    me->v = (int)i + 1;
    for (;;) {
      struct node* t = load(tl, acq);
      struct node* x = load(t->next, acq);
      if (t != load(tl, acq)) continue;
      if (x) {
        exchange(tl, t, x, rel, rlx);
        continue;
      }
      if (exchange(t->next, x, me, rel, rlx)) {
        exchange(tl, t, me, rel, rlx);
        return 0;
      }
    }
  } else
    for (;;) {
      struct node* h = load(hd, acq);
      struct node* t = load(tl, acq);
      struct node* x = load(h->next, acq);
      if (h != load(hd, acq)) continue;
      if (!x) return 0;
      if (h == t) {
        exchange(tl, t, x, rel, rlx);
        continue;
      }
      int v = x->v;
      if (exchange(hd, h, x, rel, rlx)) {
        assert(v > 0);
        return 0;
      }
    }
}
int main() {
  store(hd, &n[N], rlx);
  store(tl, &n[N], rlx);
  run_all(f);
  return 0;
}
