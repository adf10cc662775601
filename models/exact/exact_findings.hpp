// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "exact.hpp"
#include "exact_execution.hpp"

namespace runq::model::exact {

/// What a search has found so far, and whether and why it is over.
struct findings {
  search_result result;
  exact_statistics statistics;
  bool over = false;
  bool out_of_budget = false;          ///< over because of a limit of how long to search
  bool stopped_by_team = false;        ///< over because another process is
  technique misled = technique::none;  ///< over because it has met what only a search without that can judge
  bool knows_more = false;             ///< over because it has found one more of execution::differences
  bool sizes_differ = false;           ///< over because the program makes a larger variable of several
  bool has_noted_race = false;         ///< exact_options::all_failures

  /// Ends the search without a verdict.
  void cut_short(std::string message);
  void use_up_budget(const std::string& limit);
};

}  // namespace runq::model::exact
