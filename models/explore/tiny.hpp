// SPDX-License-Identifier: MIT
// A failing run as a program for the exact checker: each thread makes the atomic operations that it made in the run,
// and goes on only while it reads from the stores that it read from there. The checker refuses the program if, and only
// if, C++20 allows what the run has done.
#pragma once

#include <string>

#include "engine.hpp"

namespace runq::model::explore {

struct tiny_program {
  std::string source;   ///< C++; empty: there is none
  std::string why_not;  ///< then: what does not fit
};

/// Of a failing run, all of whose steps are in the trace; the last one fails.
[[nodiscard]] tiny_program tiny_program_of(const search_result& run);

}  // namespace runq::model::explore
