// SPDX-License-Identifier: MIT
// The result of a check as a file and as pages, with the verdict that is printed.
#pragma once

#include <string>

#include "answer.hpp"
#include "options.hpp"

namespace runq::model::compiled {

/// Before a long search: whether there will be room for its results. Returns what is wrong, or an empty text.
[[nodiscard]] std::string prepare_results(const run_options& options);

/// Writes what --json and --html ask for. Returns what is wrong, or an empty text.
[[nodiscard]] std::string write_results(const answer& a, const run_options& options);

}  // namespace runq::model::compiled
