// SPDX-License-Identifier: MIT
// A run by script: somebody has written down which processor does what in which row, and the machine does it. Every
// step must be possible; where a row is not what the strict rule would have made of the same state, the run says so.
#pragma once

#include <cstddef>
#include <vector>

#include "walkthrough/run.hpp"

namespace runq::walkthrough {

struct script {
  program what;
  stealing pushed;
  std::size_t processors;
  std::vector<std::vector<step>> rows;  // the first is the table's second row: the first one is given
};

/// Stops at the first impossible step and says why in `run::obstacle`.
[[nodiscard]] run replay(const script& s);

}  // namespace runq::walkthrough
