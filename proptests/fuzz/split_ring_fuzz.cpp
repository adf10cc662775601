// SPDX-License-Identifier: MIT
// Scripts for runq::split_ring.
#include "fuzz.hpp"
#include "split_ring_candidate.hpp"
#include "split_spec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto candidates = runq::props::split_ring_candidates();
  return runq::props::fuzz<runq::props::split_spec>("split_ring", candidates, data, size);
}
