// SPDX-License-Identifier: MIT
// Scripts for runq::inject, and for the chains that travel in it.
#include "fuzz.hpp"
#include "inject_candidate.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace runq::props;
  static const auto candidates = inject_candidates();
  // There is one candidate, without counters, so the first byte is free to say what the rest is about.
  if (size == 0 || data[0] % 4 != 0) return fuzz<shared_spec>("inject", candidates, data, size);
  const std::vector<std::uint8_t> steps(data + 1, data + size);
  begin_fuzz("inject");
  transcript::replace("  EXPECT_EQ(runq::props::chain_disagrees(" + braces(values(steps.begin(), steps.end())) +
                      "), \"\");\n");
  if (const std::string wrong = chain_disagrees(steps); !wrong.empty()) fuzz_failed(wrong);
  return 0;
}
