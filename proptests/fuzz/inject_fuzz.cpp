// SPDX-License-Identifier: MIT
// Scripts for runq::inject, and for the chains that travel in it.
#include "fuzz.hpp"
#include "inject_candidate.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace runq::props;
  static const auto candidates = inject_candidates();
  // There is one candidate, without counters, so the first byte is free to say what the rest is about.
  if (size == 0 || data[0] % 4 != 0) return fuzz<shared_spec>("inject", candidates, data, size);
  return fuzz_chain("inject", chain_disagrees, data + 1, size - 1);
}
