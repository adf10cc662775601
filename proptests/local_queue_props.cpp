// SPDX-License-Identifier: MIT
// The laws of runq::local_queue.
#include "local_queue_candidate.hpp"
#include "suites.hpp"

int main(int argc, char** argv) {
  using namespace runq::props;
  return run_local_queue_laws(argc, argv, local_queue_candidates(), local_queue_candidates_on_threads());
}
