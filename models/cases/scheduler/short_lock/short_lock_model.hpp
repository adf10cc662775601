// SPDX-License-Identifier: MIT
// The shipped short_lock in a model: its own, and those of components that lock it.
#pragma once

#include "runq/protocol/short_lock.hpp"
#include "waiting.hpp"

namespace runq::model {

struct patient {
  template <class Condition>
  static void until(Condition&& condition) {
    await(condition);
  }
};

using short_lock = basic_short_lock<patient, atomics>;

/// For models in which it matters how a component locks. Others use the mutex of the model, whose executions are fewer.
struct atomics_and_short_lock : atomics {
  using mutex = short_lock;
};

}  // namespace runq::model
