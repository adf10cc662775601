// SPDX-License-Identifier: MIT
// The laws of runq::local_queue.
#include "local_queue_candidate.hpp"
#include "local_queue_laws.hpp"

int main(int argc, char** argv) {
  runq::props::suite s("local_queue");
  s.add(runq::props::processor_laws(runq::props::local_queue_candidates()));
  s.add(runq::props::processor_thread_laws(runq::props::local_queue_candidates_on_threads()));
  return s.run(argc, argv);
}
