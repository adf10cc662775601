// SPDX-License-Identifier: MIT
// What the generated programs have as texts of lines: outcomes and kinds of failures.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace random_programs {

/// Of a text in which each line, the last one too, ends with '\n'.
inline std::set<std::string> lines_of(std::string_view text) {
  std::set<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

}  // namespace random_programs
