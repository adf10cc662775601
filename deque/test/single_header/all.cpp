// SPDX-License-Identifier: MIT
#include "runq_all.hpp"

int sum_by_chase_lev(int up_to) {
  runq::chase_lev<int> deque;
  auto owner = deque.make_owner();
  int sum = 0;
  for (int i = 1; i <= up_to; ++i) {
    if (!owner.push(i)) return -1;
  }
  while (const auto i = owner.pop()) sum += *i;
  return sum;
}
