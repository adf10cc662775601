// SPDX-License-Identifier: MIT
// The laws of runq::runnext.
#include "runnext_candidate.hpp"
#include "runnext_laws.hpp"

int main(int argc, char** argv) {
  runq::props::suite s("runnext");
  s.add(runq::props::slot_laws(runq::props::runnext_candidates()));
  s.add(runq::props::slot_thread_laws(runq::props::runnext_candidates_on_threads()));
  return s.run(argc, argv);
}
