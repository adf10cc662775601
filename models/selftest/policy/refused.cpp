// SPDX-License-Identifier: MIT
// Does not compile: the atomics of models say what to write instead.
#include "atomics.hpp"

int use(runq::model::atomic<int>& number) {
  ++number;
  number += 2;
  number = 3;
  return number;
}
