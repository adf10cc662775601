// SPDX-License-Identifier: MIT
// The laws of runq::ring.
#include "ring_candidate.hpp"
#include "suites.hpp"

int main(int argc, char** argv) {
  using namespace runq::props;
  return run_ring_laws(argc, argv, ring_candidates(), ring_candidates_on_threads());
}
