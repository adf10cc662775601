// SPDX-License-Identifier: MIT
// Waiting, as a program says it: a loop, of which the front end finds that it waits.
#pragma once

#include "atomics.hpp"

namespace runq::model {

template <class Condition>
void await(Condition&& condition) {
  while (!condition()) atomics::pause();
}

}  // namespace runq::model
