// SPDX-License-Identifier: MIT
// Runs a program by a script, which says which processor takes which steps in which row. Every step must be possible.
// The run notes each row that differs from what the strict rule would have done in the same state.
#pragma once

#include <cstddef>
#include <vector>

#include "walkthrough/run.hpp"

namespace runq::walkthrough {

struct script {
  program what;
  stealing pushed;
  std::size_t processors;
  std::vector<std::vector<step>> rows;  // rows[0] is the table's second row; its first row is the initial state
};

/// Stops at the first impossible step and says why in `run::obstacle`.
[[nodiscard]] run replay(const script& s);

}  // namespace runq::walkthrough
