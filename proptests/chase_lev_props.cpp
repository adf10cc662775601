// SPDX-License-Identifier: MIT
// The laws of runq::chase_lev.
#include "chase_lev_candidate.hpp"
#include "suites.hpp"

int main(int argc, char** argv) {
  using namespace runq::props;
  return run_chase_lev_laws(argc, argv, chase_lev_candidates(), chase_lev_candidates_on_threads());
}
