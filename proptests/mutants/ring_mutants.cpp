// SPDX-License-Identifier: MIT
// The laws of runq::ring on a header with all seeded bugs, of which RUNQ_MUTANT chooses one. The counters of these
// rings are narrow, so they wrap around soon.
#include "ring_candidate.hpp"
#include "suites.hpp"

int main(int argc, char** argv) {
  using namespace runq::props;
  return run_ring_laws(argc, argv, {ring_candidate<8, std::uint8_t>()},
                       {ring_candidate<4, std::uint8_t, chaos_atomics>()});
}
