// SPDX-License-Identifier: MIT
// The laws of runq::ring on whatever header the include path finds first. This is compiled once for
// each bug, so there is one instantiation only; its counters wrap around soon.
#include "ring_candidate.hpp"
#include "suites.hpp"

int main(int argc, char** argv) {
  using namespace runq::props;
#if RUNQ_MUTANT_ON_THREADS
  return run_ring_laws(argc, argv, {}, {ring_candidate<4, std::uint8_t, chaos_atomics>()});
#else
  return run_ring_laws(argc, argv, {ring_candidate<8, std::uint8_t>()}, {});
#endif
}
