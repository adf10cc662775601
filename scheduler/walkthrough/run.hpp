// SPDX-License-Identifier: MIT
// The results of a run: its rows, where they depart from the strict rule, and what main returned.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "walkthrough/machine.hpp"

namespace runq::walkthrough {

/// A row in which a script does something else than the strict rule would have done in the same state.
struct departure {
  std::size_t row;  // from 1
  std::string why;  // one line
};

struct run {
  program what;
  stealing pushed;
  std::vector<row> rows{};  // the first is the state before the first step
  std::vector<departure> departures{};
  std::vector<event> history{};
  std::optional<int> result{};            // what main prints; nothing when main has not returned
  std::optional<std::string> obstacle{};  // why main has not returned: "row 3: T1 …"
};

}  // namespace runq::walkthrough
