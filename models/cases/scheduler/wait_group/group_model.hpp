// SPDX-License-Identifier: MIT
// What the models of wait_group share.
#pragma once

#include <cstdlib>

#include "runq/wait_group.hpp"
#include "scenario.hpp"

namespace runq::detail {

// In production this throws: wait_group.hpp only declares it.
inline void negative_wait_group() {
  model::require(false, "the count of a wait_group is negative");
  std::abort();  // not reached
}

}  // namespace runq::detail
