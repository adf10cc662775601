// SPDX-License-Identifier: MIT
// Scripts for runq::chase_lev.
#include "chase_lev_candidate.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto candidates = runq::props::chase_lev_candidates();
  return runq::props::fuzz<runq::props::fifo_spec>("chase_lev", candidates, data, size);
}
