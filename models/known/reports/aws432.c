// SPDX-License-Identifier: MIT
// Two threads give up their reference; the last one frees the object.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "aws/cryptosdk/materials.h"

struct object {
  struct aws_atomic_var references;
  int data;
};

static void* use_and_release(void* argument) {
  struct object* object = argument;
  assert(object->data == 1);
  if (aws_cryptosdk_private_refcount_down(&object->references)) free(object);
  return NULL;
}

int main(void) {
  struct object* const object = malloc(sizeof *object);
  aws_atomic_init_int(&object->references, 2);
  object->data = 1;
  pthread_t other;
  pthread_create(&other, NULL, use_and_release, object);
  use_and_release(object);
  pthread_join(other, NULL);
  return 0;
}
