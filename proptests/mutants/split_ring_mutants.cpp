// SPDX-License-Identifier: MIT
// The laws of runq::split_ring on a header with all seeded bugs, of which RUNQ_MUTANT chooses one.
#include "split_ring_candidate.hpp"
#include "suites.hpp"

int main(int argc, char** argv) {
  using namespace runq::props;
  return run_split_ring_laws(argc, argv, {split_ring_candidate<4, 2>()}, {split_ring_candidate<2, 1, chaos_atomics>()});
}
