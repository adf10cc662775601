// SPDX-License-Identifier: MIT
// What a check came to, as a file and as pages: the same judgement that is printed.
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
