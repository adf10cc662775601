// SPDX-License-Identifier: MIT
// What the models of wait_group share.
#pragma once

#include <cstdint>

#include "runq/wait_group.hpp"
#include "scenario.hpp"

namespace runq::model {

using runq::detail::counting;

/// Counts as a program does that keeps to the rules.
template <class Group>
void add(Group& group, std::int64_t n) {
  require(group.add(n) == counting::done, "a group reports an error although the program kept to its rules");
}

}  // namespace runq::model
