// SPDX-License-Identifier: MIT
// The deque of Chase and Lev: its owner pushes 2 and takes 2, each other thread steals one.
#include "threads.h"

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
