// SPDX-License-Identifier: MIT
// The laws of runq::ring.
#include "fifo_laws.hpp"
#include "ring_candidate.hpp"

int main(int argc, char** argv) {
  runq::props::suite s("ring");
  s.add(runq::props::fifo_laws(runq::props::ring_candidates()));
  s.add(runq::props::fifo_thread_laws(runq::props::ring_candidates_on_threads()));
  return s.run(argc, argv);
}
