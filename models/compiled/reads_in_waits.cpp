// SPDX-License-Identifier: MIT
#include "reads_in_waits.hpp"

#include <algorithm>

namespace runq::model::compiled {

std::set<std::string> reads_in_waits::lines() const {
  std::set<std::string> found;
  if (reads_.empty()) return found;
  for (const auto& write : writes_) {
    const auto is_read = [&](const place& read) { return read.overlaps(write.first); };
    if (has_more_ || std::any_of(reads_.begin(), reads_.end(), is_read)) found.insert(write.second);
  }
  return found;
}

}  // namespace runq::model::compiled
