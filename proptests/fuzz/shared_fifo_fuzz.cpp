// SPDX-License-Identifier: MIT
// Scripts for runq::shared_fifo.
#include "fuzz.hpp"
#include "shared_fifo_candidate.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto candidates = runq::props::shared_fifo_candidates();
  return runq::props::fuzz<runq::props::shared_spec>("shared_fifo", candidates, data, size);
}
