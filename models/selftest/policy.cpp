// SPDX-License-Identifier: MIT
// What the atomics of models accept of std::atomic's interface; only compiled. With REFUSED it does not compile: the
// atomics say what to write instead.
#include "atomics.hpp"

#ifndef REFUSED
int use(runq::model::atomic<int>& number, runq::model::atomic<int*>& pointer) {
  int expected = number.load();
  number.store(1);
  number.exchange(2);
  number.fetch_add(1);
  number.compare_exchange_weak(expected, 3);
  number.compare_exchange_strong(expected, 4, std::memory_order::acq_rel);
  number.compare_exchange_strong(expected, 5, std::memory_order::release, std::memory_order::relaxed);
  pointer.store(&expected);
  return pointer.load() == nullptr ? expected : 0;
}
#else
int use(runq::model::atomic<int>& number) {
  ++number;
  number += 2;
  number = 3;
  return number;
}
#endif
