// SPDX-License-Identifier: MIT
// The handlers of pthread_cleanup_push(), as C has them, run where they are taken back. That a thread ends with them is
// not modelled.
// check: bounded; code that is not seen (named below)
// check -DTWICE: FAIL assertion
// check -DENDS: no verdict: not modelled: pthread_exit() with a handler of pthread_cleanup_push(), at cleanup
// check -DENDS_LATER: bounded
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

int ended;
void end(void* unused) {
  (void)unused;
  ++ended;
}

void* work(void* unused) {
  pthread_cleanup_push(end, unused);
#ifdef ENDS
  pthread_exit(NULL);
#endif
  pthread_cleanup_pop(1);
#ifdef TWICE
  end(NULL);
#endif
#ifdef ENDS_LATER
  pthread_exit(NULL);
#endif
  return NULL;
}

int main() {
  pthread_t other;
  pthread_create(&other, NULL, work, NULL);
  pthread_join(other, NULL);
  assert(ended == 1);
}
