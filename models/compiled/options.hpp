// SPDX-License-Identifier: MIT
// How a check is made: the options of runq-check, and those of runq::check(), which come as the same words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "exact.hpp"
#include "orders.hpp"
#include "session.hpp"

namespace runq::model::compiled {

struct run_options {
  exact_options search;
  bool leaks = true;
  bool every_iteration = false;
  bounds limits;
  order_change weakened;  ///< an order that is made weaker
  // Of the command only:
  bool ledger = false;                 ///< weaken every order, one at a time
  std::vector<std::string> ledger_of;  ///< those in files whose paths end with one of these; none: in all of its own
  unsigned jobs = 0;                   ///< processes at the same time; 0: one for each processor
  std::string json_file;               ///< where results go; empty: nowhere
  std::string html_dir;                ///< as well
  std::string title = "main()";        ///< of the program, on its page
  std::string replay;                  ///< the command that does the same again
};

/// Before check().
void prepare(session& s, const run_options& options);

/// Reads words that are separated by line ends, or by spaces if there is no line end. Returns what is wrong with them,
/// or an empty text. May be called again: later options win.
[[nodiscard]] std::string read_options(std::string_view words, run_options& to);

/// What only the command can do, if it is asked for; otherwise an empty text.
[[nodiscard]] std::string option_of_command(const run_options& options);

}  // namespace runq::model::compiled
