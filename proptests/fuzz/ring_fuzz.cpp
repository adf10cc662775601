// SPDX-License-Identifier: MIT
// Scripts for runq::ring.
#include "fuzz.hpp"
#include "ring_candidate.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto candidates = runq::props::ring_candidates();
  return runq::props::fuzz<runq::props::fifo_spec>("ring", candidates, data, size);
}
