// SPDX-License-Identifier: MIT
// Which ways the conditional jumps of a program go: branches.awk has added code to the program, which notes them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace runq::model::compiled {

/// Of one object of the program: two bytes for each jump, of which the first is 1 once it was made, and the second once
/// it was not.
struct noted_ways {
  unsigned char* begin;
  std::size_t size;
  unsigned object;
};

[[nodiscard]] const std::vector<noted_ways>& all_noted_ways();

/// Writes a line for each object: its number, and the bytes as digits. Returns whether the file could be written.
[[nodiscard]] bool write_ways(const std::string& file);

}  // namespace runq::model::compiled
