// SPDX-License-Identifier: MIT
#include "exact_findings.hpp"

#include <utility>

namespace runq::model::exact {

void findings::use_up_budget(const std::string& limit) {
  if (over) return;
  out_of_budget = true;
  cut_short("limit reached: " + limit + "; raise it, or make the scenario smaller");
}

void findings::cut_short(std::string message) {
  if (over) return;
  over = true;
  result.how = coverage::cut_short;
  result.message = std::move(message);
}

}  // namespace runq::model::exact
