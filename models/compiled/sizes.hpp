// SPDX-License-Identifier: MIT
// The sizes of a test that can grow (<runq/grow.hpp>): what the program asks for, and what it is told.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace runq::model::compiled {

using named_size = std::pair<std::string, int>;

/// What the program is told of these; of the others it is told the smallest.
void choose_sizes(const std::vector<named_size>& chosen);
/// The sizes that the program has asked for, with their smallest values. Other processes that check it have others.
[[nodiscard]] const std::vector<named_size>& asked_sizes();
/// Adds those that another process was asked for.
void add_asked_sizes(const std::vector<named_size>& asked);
/// A size that was chosen, and that the program has not asked for; empty if there is none.
[[nodiscard]] std::string size_not_asked_for();
/// Writes a line for each size that the program has asked for: its name, and its smallest value. Returns whether the
/// file could be written.
[[nodiscard]] bool write_sizes(const std::string& file);

}  // namespace runq::model::compiled
