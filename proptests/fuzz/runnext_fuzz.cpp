// SPDX-License-Identifier: MIT
// Scripts for runq::runnext.
#include "fuzz.hpp"
#include "runnext_candidate.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto candidates = runq::props::runnext_candidates();
  return runq::props::fuzz<runq::props::slot_spec>("runnext", candidates, data, size);
}
