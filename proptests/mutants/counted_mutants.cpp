// SPDX-License-Identifier: MIT
// The laws of runq::counted on a header with all seeded bugs, of which RUNQ_MUTANT chooses one.
#include "counted_candidate.hpp"
#include "suites.hpp"

int main(int argc, char** argv) {
  using namespace runq::props;
  return run_counted_laws(argc, argv, counted_candidates(), counted_candidates_on_threads());
}
