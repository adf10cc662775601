// SPDX-License-Identifier: MIT
// An old C program: volatile variables, and fences if FENCES; with PLAIN, data is not volatile.
#include <assert.h>
#include <threads.h>

volatile int flag;
#if !defined(PLAIN)
volatile
#endif
    int data;

static void fence(int order) {
#if defined(FENCES)
  __atomic_thread_fence(order);
#else
  (void)order;
#endif
}

int writer(void* unused) {
  (void)unused;
  data = 1;
  fence(__ATOMIC_RELEASE);
  flag = 1;
  return 0;
}

int main(void) {
  thrd_t t;
  if (thrd_create(&t, writer, 0) != thrd_success) return 1;
  while (flag == 0) continue;
  fence(__ATOMIC_ACQUIRE);
  assert(data == 1);
  thrd_join(t, 0);
  return 0;
}
