// SPDX-License-Identifier: MIT
// The laws of runq::chase_lev.
#include "chase_lev_candidate.hpp"
#include "fifo_laws.hpp"

int main(int argc, char** argv) {
  runq::props::suite s("chase_lev");
  s.add(runq::props::fifo_laws(runq::props::chase_lev_candidates()));
  s.add(runq::props::fifo_thread_laws(runq::props::chase_lev_candidates_on_threads()));
  return s.run(argc, argv);
}
