// SPDX-License-Identifier: MIT
// A line on stderr about where a long search stands.
#pragma once

#include "verdict.hpp"

namespace runq::model::compiled {

/// On a terminal always in the same line; otherwise a line after 1 s, 2 s, 4 s … and then every minute.
void print_progress(const search_progress& now);
/// Takes the line away from a terminal.
void end_progress();

}  // namespace runq::model::compiled
