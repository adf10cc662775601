// SPDX-License-Identifier: MIT
// How a check is made: the options of runq-check, and those of runq::check(), which come as the same words.
#pragma once

#include <string>
#include <string_view>

#include "exact.hpp"
#include "session.hpp"

namespace runq::model::compiled {

struct run_options {
  exact_options search;
  bool leaks = true;
  bool every_iteration = false;
  bounds limits;
};

/// Before check().
void prepare(session& s, const run_options& options);

/// Reads words that are separated by line ends, or by spaces if there is no line end. Returns what is wrong with them,
/// or an empty text. May be called again: later options win.
[[nodiscard]] std::string read_options(std::string_view words, run_options& to);

}  // namespace runq::model::compiled
