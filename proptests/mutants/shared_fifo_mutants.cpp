// SPDX-License-Identifier: MIT
// The laws of runq::shared_fifo on a header with all seeded bugs, of which RUNQ_MUTANT chooses one.
#include "shared_fifo_candidate.hpp"
#include "suites.hpp"

int main(int argc, char** argv) {
  using namespace runq::props;
  return run_shared_fifo_laws(argc, argv, shared_fifo_candidates(), shared_fifo_candidates_on_threads());
}
