// SPDX-License-Identifier: MIT
// An MCS lock.
#include "threads.h"

struct q {
  _Atomic(struct q*) next;
  atomic_int locked;
};
struct q nd[N];
_Atomic(struct q*) tail;
int d;
void* f(void* a) {
  struct q* me = &nd[(long)a];
  store(me->next, 0, rlx);
  store(me->locked, 1, rlx);
  struct q* p = atomic_exchange_explicit(&tail, me, acq_rel);
  if (p) {
    store(p->next, me, rel);
    while (load(me->locked, acq))
      ;
  }
  d++;
  if (!load(me->next, acq)) {
    struct q* e = me;
    if (exchange(tail, e, 0, rel, rlx)) return 0;
    while (!load(me->next, acq))
      ;
  }
  store(load(me->next, acq)->locked, 0, rel);
  return 0;
}
int main() {
  run_all(f);
  assert(d == N);
  return 0;
}
