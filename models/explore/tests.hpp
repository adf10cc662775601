// SPDX-License-Identifier: MIT
// The tests of a program that is one of GoogleTest's: each is the program with one more argument.
#pragma once

#include <string>
#include <vector>

#include "options.hpp"
#include "run.hpp"

namespace runq::model::explore {

/// Those whose names match what the options ask for, in the program's order; it is asked for all by a run.
[[nodiscard]] std::vector<std::string> tests_of(const exploration_options& options, const program& p);

/// Why a test has skipped itself, by what it has written; empty: it has not.
[[nodiscard]] std::string reason_of_skip(const std::string& output);

[[nodiscard]] program with_argument(const program& p, const std::string& argument);

}  // namespace runq::model::explore
