// SPDX-License-Identifier: MIT
#include "reads_in_waits.hpp"

#include <algorithm>

namespace runq::model::compiled {

std::set<std::string> reads_in_waits::lines() const {
  std::set<std::string> found;
  if (in_rounds_.empty()) return found;
  for (const auto& late : late_) {
    const auto may_race = [&](const place& p) {
      return p.overlaps(late.first) && p.how.conflicts_with(late.first.how);
    };
    if (has_more_ || std::any_of(in_rounds_.begin(), in_rounds_.end(), may_race)) found.insert(late.second);
  }
  return found;
}

}  // namespace runq::model::compiled
