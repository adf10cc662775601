// SPDX-License-Identifier: MIT
// What a run leaves behind: its rows, and what is to be said of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "walkthrough/machine.hpp"

namespace runq::walkthrough {

/// A row that a script makes otherwise than the strict rule would have made it from the same state.
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
  std::optional<int> result{};            // what main prints; nothing when the run did not come so far
  std::optional<std::string> obstacle{};  // why it did not: "row 3: T1 …"
};

}  // namespace runq::walkthrough
