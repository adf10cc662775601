// SPDX-License-Identifier: MIT
// Checks that take more than one search, each in a process of its own: races that are accepted are found by one search,
// and are relaxed accesses in the next; each of several failures is shown by a search of its execution only.
#pragma once

#include "answer.hpp"
#include "options.hpp"

namespace runq::model::compiled {

[[nodiscard]] bool takes_several_searches(const run_options& options);
[[nodiscard]] answer check_by_several_searches(const run_options& options, const check_function& check);

}  // namespace runq::model::compiled
