// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "exact.hpp"

namespace runq::model::exact {

/// What a search has found so far, and whether and why it is over.
struct findings {
  search_result result;
  exact_statistics statistics;
  bool over = false;
  bool out_of_budget = false;       ///< over because of a limit of how long to search
  bool stopped_by_team = false;     ///< over because another process is
  bool rounds_are_unclear = false;  ///< over because it is not clear which arrivals at a barrier are a round
  bool waits_must_block = false;    ///< over because a wait in place has met what only a wait that blocks can judge

  /// Ends the search without a verdict.
  void cut_short(std::string message);
  void use_up_budget(const std::string& limit);
};

}  // namespace runq::model::exact
