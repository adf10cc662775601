// SPDX-License-Identifier: MIT
// The laws of runq::local_queue on a header with all seeded bugs, of which RUNQ_MUTANT chooses one. Its counters
// are narrow, so they wrap around soon.
#include "local_queue_candidate.hpp"
#include "suites.hpp"

int main(int argc, char** argv) {
  using namespace runq::props;
  return run_local_queue_laws(argc, argv, {local_queue_candidate<4, std::uint8_t>()},
                              {local_queue_candidate<4, std::uint8_t, chaos_atomics>()});
}
