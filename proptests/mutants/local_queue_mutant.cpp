// SPDX-License-Identifier: MIT
// The laws of runq::local_queue on whatever header the include path finds first. This is compiled once for
// each bug, so there is one instantiation only; its counters wrap around soon.
#include "local_queue_candidate.hpp"
#include "suites.hpp"

int main(int argc, char** argv) {
  using namespace runq::props;
#if RUNQ_MUTANT_ON_THREADS
  return run_local_queue_laws(argc, argv, {}, {local_queue_candidate<4, std::uint8_t, chaos_atomics>()});
#else
  return run_local_queue_laws(argc, argv, {local_queue_candidate<4, std::uint8_t>()}, {});
#endif
}
