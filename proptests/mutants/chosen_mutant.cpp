// SPDX-License-Identifier: MIT
// Which seeded bug runs: the one that the environment variable RUNQ_MUTANT names, as in "ring/half_rounded_down".
// Without it, the code that ships runs.
#include <cstdlib>

#include "variant.hpp"

namespace {

std::uint64_t number_in_environment() {
  const char* const name = std::getenv("RUNQ_MUTANT");
  return name == nullptr ? 0 : runq::model::mutant_number(name);
}

}  // namespace

std::uint64_t runq::model::chosen_mutant = number_in_environment();
