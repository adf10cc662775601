// SPDX-License-Identifier: MIT
// The laws of runq::boxed.
#include "boxed_candidate.hpp"
#include "suites.hpp"

int main(int argc, char** argv) {
  using namespace runq::props;
  return run_boxed_laws(argc, argv, boxed_candidates(), boxed_candidates_on_threads());
}
