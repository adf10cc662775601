// SPDX-License-Identifier: MIT
// The laws of runq::chase_lev on a header with all seeded bugs, of which RUNQ_MUTANT chooses one. Its first
// array has two slots, so it grows soon.
#include "chase_lev_candidate.hpp"
#include "suites.hpp"

int main(int argc, char** argv) {
  using namespace runq::props;
  return run_chase_lev_laws(argc, argv, {chase_lev_candidate<2>()}, {chase_lev_candidate<2, chaos_atomics>()});
}
