// SPDX-License-Identifier: MIT
// The laws of runq::split_deque on a header with all seeded bugs, of which RUNQ_MUTANT chooses one.
#include "split_deque_candidate.hpp"
#include "suites.hpp"

int main(int argc, char** argv) {
  using namespace runq::props;
  return run_split_deque_laws(argc, argv, {split_deque_candidate<2, 2>(), split_deque_candidate<4, 2>()},
                              {split_deque_candidate<4, 2, chaos_atomics>()});
}
