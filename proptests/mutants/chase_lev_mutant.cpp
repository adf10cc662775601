// SPDX-License-Identifier: MIT
// The laws of runq::chase_lev on whatever header the include path finds first. This is compiled once
// for each bug, so there is one instantiation only; it grows soon.
#include "chase_lev_candidate.hpp"
#include "suites.hpp"

int main(int argc, char** argv) {
  using namespace runq::props;
#if RUNQ_MUTANT_ON_THREADS
  return run_chase_lev_laws(argc, argv, {}, {chase_lev_candidate<2, chaos_atomics>()});
#else
  return run_chase_lev_laws(argc, argv, {chase_lev_candidate<2>()}, {});
#endif
}
