// SPDX-License-Identifier: MIT
// The laws of runq::split_ring.
#include "split_ring_candidate.hpp"
#include "suites.hpp"

int main(int argc, char** argv) {
  using namespace runq::props;
  return run_split_ring_laws(argc, argv, split_ring_candidates(), split_ring_candidates_on_threads());
}
