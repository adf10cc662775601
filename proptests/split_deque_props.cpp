// SPDX-License-Identifier: MIT
// The laws of runq::split_deque.
#include "split_deque_candidate.hpp"
#include "suites.hpp"

int main(int argc, char** argv) {
  using namespace runq::props;
  return run_split_deque_laws(argc, argv, split_deque_candidates(), split_deque_candidates_on_threads());
}
