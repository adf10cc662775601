// SPDX-License-Identifier: MIT
// A buffer with one place, in C11: producers wait until it is empty, consumers until it is full, all on one condition
// variable. Signalling one thread is not enough: a consumer may wake the other consumer instead of the producer, and
// then all sleep for ever.
// check: bounded, 80 executions
// check -DWRONG: FAIL deadlock
#include <assert.h>
#include <threads.h>

mtx_t m;
cnd_t changed;
int place = 0;  // 0: empty

#ifdef WRONG
void tell(void) { cnd_signal(&changed); }
#else
void tell(void) { cnd_broadcast(&changed); }
#endif

int put(void* unused) {
  (void)unused;
  mtx_lock(&m);
  while (place != 0) cnd_wait(&changed, &m);
  place = 1;
  tell();
  mtx_unlock(&m);
  return 0;
}
int take(void* unused) {
  (void)unused;
  mtx_lock(&m);
  while (place == 0) cnd_wait(&changed, &m);
  place = 0;
  tell();
  mtx_unlock(&m);
  return 0;
}

int main(void) {
  mtx_init(&m, mtx_plain);
  cnd_init(&changed);
  thrd_t producers[2], consumers[2];
  for (int i = 0; i != 2; ++i) thrd_create(&consumers[i], take, NULL);
  for (int i = 0; i != 2; ++i) thrd_create(&producers[i], put, NULL);
  for (int i = 0; i != 2; ++i) thrd_join(producers[i], NULL);
  for (int i = 0; i != 2; ++i) thrd_join(consumers[i], NULL);
  assert(place == 0);
}
