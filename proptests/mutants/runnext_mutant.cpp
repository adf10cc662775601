// SPDX-License-Identifier: MIT
// The laws of runq::runnext on whatever header the include path finds first. This is compiled once for
// each bug, so there is one instantiation only.
#include "runnext_candidate.hpp"
#include "suites.hpp"

int main(int argc, char** argv) {
  using namespace runq::props;
#if RUNQ_MUTANT_ON_THREADS
  return run_runnext_laws(argc, argv, {}, runnext_candidates_on_threads());
#else
  return run_runnext_laws(argc, argv, runnext_candidates(), {});
#endif
}
