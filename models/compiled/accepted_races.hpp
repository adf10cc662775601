// SPDX-License-Identifier: MIT
// Races that the user accepts: each with a line of source, of one of its two accesses, and perhaps a reason.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "relaxed_lines.hpp"

namespace runq::model::compiled {

struct accepted_races {
  struct entry {
    code_line at;
    std::string reason;
  };
  std::vector<entry> entries;
  bool all = false;  ///< every race is accepted

  [[nodiscard]] bool is_empty() const noexcept { return entries.empty() && !all; }
  /// The entry that accepts a race of these two lines; nullptr: none does.
  [[nodiscard]] const entry* accepting(const code_line& a, const code_line& b) const;
  [[nodiscard]] bool accepts(const code_line& a, const code_line& b) const { return all || accepting(a, b) != nullptr; }
  /// Reads "race:FILE:LINE". Returns what is wrong with it, or an empty text.
  [[nodiscard]] std::string add(std::string_view text, std::string_view reason);
  /// A file of such lines, each with a reason behind a space; empty lines and those that begin with # say nothing.
  [[nodiscard]] std::string add_from(const std::string& file);
};

}  // namespace runq::model::compiled
