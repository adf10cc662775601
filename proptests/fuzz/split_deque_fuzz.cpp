// SPDX-License-Identifier: MIT
// Scripts for runq::split_deque.
#include "fuzz.hpp"
#include "split_deque_candidate.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto candidates = runq::props::split_deque_candidates();
  return runq::props::fuzz<runq::props::fifo_spec>("split_deque", candidates, data, size);
}
