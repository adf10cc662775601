// SPDX-License-Identifier: MIT
#include "reads_in_waits.hpp"

#include <algorithm>

namespace runq::model::compiled {

std::set<std::string> reads_in_waits::lines() const {
  std::set<std::string> found;
  if (reads_.empty()) return found;
  for (const auto& [write, line] : writes_) {
    const auto is_read = [&at = write](const place& read) { return read.overlaps(at); };
    if (has_more_ || std::any_of(reads_.begin(), reads_.end(), is_read)) found.insert(line);
  }
  return found;
}

}  // namespace runq::model::compiled
