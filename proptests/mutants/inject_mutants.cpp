// SPDX-License-Identifier: MIT
// The laws of runq::inject on a header with all seeded bugs, of which RUNQ_MUTANT chooses one.
#include "inject_candidate.hpp"
#include "suites.hpp"

int main(int argc, char** argv) {
  using namespace runq::props;
  return run_inject_laws(argc, argv, inject_candidates(), inject_candidates_on_threads(), chain_disagrees);
}
