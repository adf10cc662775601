// SPDX-License-Identifier: MIT
// The laws of runq::inject.
#include "inject_candidate.hpp"
#include "inject_laws.hpp"

int main(int argc, char** argv) {
  runq::props::suite s("inject");
  s.add(runq::props::shared_laws(runq::props::inject_candidates()));
  s.add(runq::props::chain_law(runq::props::chain_disagrees));
  s.add(runq::props::shared_thread_laws(runq::props::inject_candidates_on_threads()));
  return s.run(argc, argv);
}
