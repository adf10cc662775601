// SPDX-License-Identifier: MIT
// The laws of runq::runnext on a header with all seeded bugs, of which RUNQ_MUTANT chooses one.
#include "runnext_candidate.hpp"
#include "suites.hpp"

int main(int argc, char** argv) {
  using namespace runq::props;
  return run_runnext_laws(argc, argv, runnext_candidates(), runnext_candidates_on_threads());
}
