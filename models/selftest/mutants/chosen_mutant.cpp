// SPDX-License-Identifier: MIT
// Which bug that is seeded into the checker runs: the one that the environment variable RUNQ_CHECKER_MUTANT names, as
// in "exact_graph/joins_the_smaller_clock". Without it, the code that ships runs.
#include <cstdlib>

#include "variant.hpp"

/// For programs without the engines, whose definition is not weak.
[[gnu::weak]] std::uint64_t runq::model::chosen_mutant = 0;

namespace {

[[gnu::constructor(101)]] void choose() {
  if (const char* const name = std::getenv("RUNQ_CHECKER_MUTANT")) {
    runq::model::chosen_mutant = runq::model::mutant_number(name);
  }
}

}  // namespace
