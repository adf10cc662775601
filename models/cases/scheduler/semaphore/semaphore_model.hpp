// SPDX-License-Identifier: MIT
// What the models of semaphore share.
#pragma once

#include <cstdint>

#include "runq/semaphore.hpp"
#include "scenario.hpp"

namespace runq::model {

/// All units of these semaphores: what a writer takes. A reader takes 1.
constexpr std::int64_t all_units = 2;

template <class Semaphore>
void release(Semaphore& semaphore, std::int64_t n) {
  require(semaphore.release(n, all_units), "units that a task has are not taken");
}

}  // namespace runq::model
