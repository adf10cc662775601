// SPDX-License-Identifier: MIT
// The order ledger of a compiled program: every memory order in its source, weakened step by step, one at a time, and
// what the checker finds then.
#pragma once

#include <functional>

#include "answer.hpp"
#include "options.hpp"

namespace runq::model::compiled {

/// Every check is made in a separate process, `options.jobs` at the same time. Status 0: the ledger is complete,
/// whatever it says; 1: the program fails as it is; 2: a check came to no verdict.
[[nodiscard]] answer make_program_ledger(const run_options& options, const check_function& check);

}  // namespace runq::model::compiled
