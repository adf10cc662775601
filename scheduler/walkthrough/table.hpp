// SPDX-License-Identifier: MIT
// Prints runs and other tables as text. A row of a run shows what each thread has on its stack and in its deque:
//
//   main(j),f4 / f3,f2 ‖ – / –     T1's stack / T1's deque ‖ T2's stack / T2's deque
//
// f4 is a task. c.f4 is the rest of f4, in a deque or on the stack of a thread that stole it. (j) marks a task that
// waits at its join. ret1 is a task that has returned 1. A stack has its top on the right. A deque has its head, where
// thieves steal, on the left.
#pragma once

#include <string>
#include <vector>

#include "walkthrough/run.hpp"

namespace runq::walkthrough {

using lines = std::vector<std::string>;

/// The tables of the walk-throughs use different words for the same thing; these are the words of one table.
struct wording {
  std::string rest_of_main = "c.main";
  std::string before_result = "main prints ";
  std::string after_result{};
};

/// One line for each row, in the notation at the top of this file.
[[nodiscard]] lines in_notation(const run& r, const wording& words);

/// The rows as a table with a header line. A star marks a row that departs from the strict rule of its script.
[[nodiscard]] lines table_of(const run& r, const wording& words);

/// Rows of cells as lines with aligned columns; the first row is the head.
[[nodiscard]] lines aligned(const std::vector<lines>& cells);

/// Two texts next to each other, each under its title.
[[nodiscard]] lines beside(const std::string& left_title, lines left, const std::string& right_title, lines right);

}  // namespace runq::walkthrough
