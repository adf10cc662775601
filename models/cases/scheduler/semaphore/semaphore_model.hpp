// SPDX-License-Identifier: MIT
// What the models of semaphore share: how many units there are, and how a task gives them back.
#pragma once

#include <cstdint>

#include "runq/semaphore.hpp"
#include "scenario.hpp"

namespace runq::model {

/// All units of these semaphores: what a writer takes. A reader takes 1.
constexpr std::int64_t all_units = 2;

template <class Semaphore>
void release(Semaphore& semaphore, std::int64_t n) {
  require(semaphore.release(n, all_units), "a task gives units back, and the semaphore says that none were taken");
}

}  // namespace runq::model
