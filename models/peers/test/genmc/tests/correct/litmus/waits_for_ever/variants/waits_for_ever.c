/* SPDX-License-Identifier: MIT */
/* No execution comes to its end. */
#include <genmc.h>

int main(void) {
  __VERIFIER_assume(0);
  return 0;
}
