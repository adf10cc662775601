// SPDX-License-Identifier: MIT
// Locks. A macro chooses the program.
#include "threads.h"

#if defined(MUTEX)
// A mutex.
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int c;
void* f(void* a) {
  pthread_mutex_lock(&m);
  c++;
  pthread_mutex_unlock(&m);
  return 0;
}
int main() {
  run_all(f);
  assert(c == N);
  return 0;
}

#elif defined(TICKET)
// A ticket lock.
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

#elif defined(TTAS)
// A lock by test and test-and-set.
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

#elif defined(MCS)
// An MCS lock.
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

#elif defined(RW)
// The read-write lock of Linux: a writer and N-1 readers.
#define B 0x100000
atomic_int l = B;
int d;
void* f(void* a) {
  if (!a) {
    int p = atomic_fetch_sub_explicit(&l, B, acq);
    while (p != B) {
      add(l, B, rlx);
      while (load(l, rlx) != B)
        ;
      p = atomic_fetch_sub_explicit(&l, B, acq);
    }
    d = 1;
    add(l, B, rel);
  } else {
    int p = atomic_fetch_sub_explicit(&l, 1, acq);
    while (p <= 0) {
      add(l, 1, rlx);
      while (load(l, rlx) <= 0)
        ;
      p = atomic_fetch_sub_explicit(&l, 1, acq);
    }
    int v = d;
    assert(v == 0 || v == 1);
    add(l, 1, rel);
  }
  return 0;
}
int main() {
  run_all(f);
  return 0;
}

#elif defined(SEQLOCK)
// A seqlock: two writes, N-1 readers.
atomic_uint q;
atomic_int a_, b_;
void* f(void* a) {
  if (!a) {
    for (int k = 0; k < 2; k++) {
      unsigned s = load(q, rlx);
      store(q, s + 1, rlx);
      atomic_thread_fence(rel);
      store(a_, k + 1, rlx);
      store(b_, k + 1, rlx);
      store(q, s + 2, rel);
    }
    return 0;
  }
  unsigned s;
  int u, v;
  do {
    s = load(q, acq);
    u = load(a_, rlx);
    v = load(b_, rlx);
    atomic_thread_fence(acq);
  } while ((s & 1) || load(q, rlx) != s);
  assert(u == v);
  return 0;
}
int main() {
  run_all(f);
  return 0;
}

#else
#error "which program?"
#endif
