// SPDX-License-Identifier: MIT
// Scripts for runq::local_queue.
#include "fuzz.hpp"
#include "local_queue_candidate.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace runq::props;
  static const auto candidates = [] {
    auto all = local_queue_candidates();
    // 65536 pushes and pops before every script would be too slow: the laws have the 16-bit counters.
    std::erase_if(all, [](const candidate& c) { return c.index_bits == 16; });
    return all;
  }();
  return fuzz<processor_spec>("local_queue", candidates, data, size);
}
