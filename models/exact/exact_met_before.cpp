// SPDX-License-Identifier: MIT
#include "exact_met_before.hpp"

#include <string>

#include "exact_team.hpp"

namespace runq::model::exact {

bool met_before::first_time(what kind, std::uint64_t number) {
  const auto which = static_cast<unsigned>(kind);
  if (team_ == nullptr) return alone_[which].insert(number).second;
  const shared_set::answer answer = team_->seen(which).insert(number);
  if (answer == shared_set::answer::full) {
    found_.cut_short("limit reached: shared_set::capacity = " + std::to_string(shared_set::capacity) +
                     " graphs to remember; use one job");
  }
  return answer == shared_set::answer::added;
}

void met_before::let_remember(team* t) {
  team_ = t;
  if (t == nullptr) return;
  for (unsigned which = 0; which != alone_.size(); ++which) {
    for (const std::uint64_t number : alone_[which]) t->seen(which).insert(number);
  }
}

}  // namespace runq::model::exact
