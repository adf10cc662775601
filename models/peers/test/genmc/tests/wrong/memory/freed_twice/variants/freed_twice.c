/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

int main(void) {
  int* const memory = (int*)malloc(sizeof *memory);
  free(memory);
  free(memory);
  return 0;
}
