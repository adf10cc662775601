// SPDX-License-Identifier: MIT
// A load whose value nobody uses races like any other. Checked as the command compiles it.
#include <pthread.h>

static int data;

static void* write_it(void* unused) {
  data = 1;
  return unused;
}

int main(void) {
  pthread_t writer;
  pthread_create(&writer, NULL, write_it, NULL);
  int unused = data;
  pthread_join(writer, NULL);
  return 0;
}
