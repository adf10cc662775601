// SPDX-License-Identifier: MIT
// The laws of runq::counted.
#include "counted_candidate.hpp"
#include "suites.hpp"

int main(int argc, char** argv) {
  using namespace runq::props;
  return run_counted_laws(argc, argv, counted_candidates(), counted_candidates_on_threads());
}
