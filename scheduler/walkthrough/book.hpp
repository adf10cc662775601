// SPDX-License-Identifier: MIT
// The step tables for fib(4) in K. Cox-Buday, "Concurrency in Go", chapter 6, as scripts. A script says which thread
// takes which steps in which row. The contents of the cells follow from the steps.
#pragma once

#include "walkthrough/replay.hpp"
#include "walkthrough/table.hpp"

namespace runq::walkthrough {

/// A table of the book: its steps, and the words that it uses in its cells.
struct book_table {
  script steps;
  wording words;
};

[[nodiscard]] book_table task_stealing_on_two_threads();          // 15 rows
[[nodiscard]] book_table continuation_stealing_on_two_threads();  // 14 rows
[[nodiscard]] book_table continuation_stealing_on_one_thread();   // 12 rows

}  // namespace runq::walkthrough
