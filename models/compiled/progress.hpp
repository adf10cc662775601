// SPDX-License-Identifier: MIT
// A line on stderr that says how far a long search is.
#pragma once

#include "verdict.hpp"

namespace runq::model::compiled {

/// On a terminal it rewrites the same line; otherwise it prints a line after 1 s, 2 s, 4 s … and then every minute.
void print_progress(const search_progress& now);
/// Takes the line away from a terminal.
void end_progress();

}  // namespace runq::model::compiled
