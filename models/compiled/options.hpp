// SPDX-License-Identifier: MIT
// How a check is made: the options of runq-check, and those of runq::check(), which are written as the same words.
#pragma once

#include <optional>
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
  exact::way path;        ///< only the execution at its end
  bool has_path = false;
  // Of the command only:
  std::string of_command;              ///< the first of these options that is given
  bool ledger = false;                 ///< weaken every order, one at a time
  std::vector<std::string> ledger_of;  ///< weaken only orders in files whose paths end so; none: in all own files
  unsigned jobs = 0;                   ///< processes at the same time; 0: one for each processor
  std::string json_file;               ///< where results go; empty: nowhere
  std::string html_dir;                ///< where pages go; empty: nowhere
  std::string executed_file;           ///< where the list of executed operations goes; empty: nowhere
  std::string title = "main()";        ///< of the program, on its page
  std::string replay;                  ///< the command that repeats this check
};

/// "0.3.1"; "-" for the very first execution.
[[nodiscard]] std::string path_text(const exact::way& path);
[[nodiscard]] std::optional<exact::way> to_path(std::string_view text);

/// Before check().
void prepare(session& s, const run_options& options);

/// Reads words that are separated by line ends, or by spaces if there is no line end. Returns what is wrong with them,
/// or an empty text. May be called again: later options win.
[[nodiscard]] std::string read_options(std::string_view words, run_options& to);

/// Names an option, if one is given, that several processes cannot share, in a sentence; otherwise empty.
[[nodiscard]] std::string not_shared_out(const run_options& options);

}  // namespace runq::model::compiled
