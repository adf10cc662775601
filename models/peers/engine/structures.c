// SPDX-License-Identifier: MIT
// Queues and a stack. A macro chooses the program.
#include "threads.h"

#if defined(TREIBER)
// A Treiber stack: each thread pushes one node and pops one.
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

#elif defined(MSQ)
// The queue of Michael and Scott: even threads put one node in, odd threads take one out.
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

#elif defined(RING)
// A ring: its owner pushes 2 and pops 1; each other thread takes one.
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

#elif defined(CHASELEV)
// The deque of Chase and Lev: its owner pushes 2 and takes 2, each other thread steals one.
atomic_int top, bot;
atomic_int buf[4];
atomic_int cnt[3];
void* f(void* a) {
  if (a == 0) {
    for (int i = 0; i < 2; i++) {
      int b = load(bot, rlx);
      store(buf[b], i + 1, rlx);
      atomic_thread_fence(rel);
      store(bot, b + 1, rlx);
    }
    for (int k = 0; k < 2; k++) {
      int b = load(bot, rlx) - 1;
      store(bot, b, rlx);
      atomic_thread_fence(sc);
      int t = load(top, rlx);
      if (t <= b) {
        int x = load(buf[b], rlx);
        if (t == b) {
          int ok = exchange(top, t, t + 1, sc, rlx);
          store(bot, b + 1, rlx);
          if (!ok) continue;
        }
        add(cnt[x], 1, rlx);
      } else
        store(bot, b + 1, rlx);
    }
    return 0;
  }
  int t = load(top, acq);
  atomic_thread_fence(sc);
  int b = load(bot, acq);
  if (t < b) {
    int x = load(buf[t], rlx);
    if (exchange(top, t, t + 1, sc, rlx)) add(cnt[x], 1, rlx);
  }
  return 0;
}
int main() {
  run_all(f);
  assert(load(cnt[1], rlx) <= 1 && load(cnt[2], rlx) <= 1);
  return 0;
}

#else
#error "which program?"
#endif
