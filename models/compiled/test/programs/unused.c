// SPDX-License-Identifier: MIT
// Accesses whose results are unused count like all others, although compilers tend to remove them.
// check -DFORM=1: FAIL data race
// check -DFORM=2: FAIL data race
// check -DFORM=3: FAIL data race
// check -DFORM=4: FAIL data race
// check -DFORM=5: FAIL data race
// check -DFORM=6: FAIL data race
// check -DFORM=7: FAIL data race
// check -DFORM=8: FAIL crash: Segmentation fault
// check -DFORM=9: FAIL data race
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

struct block {
  char bytes[64];
};

int data;
int words[4];
struct block shared, other;
#if FORM == 9
static int only_written;
#endif
_Atomic(int) flag;
int* _Atomic nowhere;

static __attribute__((noinline)) int get(void) { return data; }

static void* write_it(void* unused) {
#if FORM == 9
  only_written = 1;
#elif FORM < 8
  data = 1;
  words[2] = 1;
  shared.bytes[40] = 1;
  atomic_store_explicit(&flag, 1, memory_order_relaxed);
#endif
  return unused;
}

static void use(void) {
#if FORM == 1
  int unused = data;
  (void)unused;
#elif FORM == 2
  // Used in no place: passes over the code carry it to there, past the loop.
  int unused = data;
  while (atomic_load_explicit(&flag, memory_order_relaxed) == 0) continue;
  (void)unused;
#elif FORM == 3
  int sum = 0;
  for (int i = 0; i != 4; ++i) sum += words[i];
  (void)sum;
#elif FORM == 4
  get();
#elif FORM == 5
  struct block copy;
  memcpy(&copy, &shared, sizeof copy);
#elif FORM == 6
  memset(&shared, 0, sizeof shared);
#elif FORM == 7
  other = shared;
#elif FORM == 8
  int unused = *atomic_load(&nowhere);
  (void)unused;
#elif FORM == 9
  only_written = 2;
#endif
}

int main(void) {
  pthread_t writer;
  pthread_create(&writer, NULL, write_it, NULL);
  use();
  pthread_join(writer, NULL);
  return 0;
}
