// SPDX-License-Identifier: MIT
// Bytes as a script for the laws about one thread, for libFuzzer: the candidates, the specification and the comparison
// are those of the property suites (laws.hpp); only where the script comes from differs.
//
// Byte 0 chooses the candidate, byte 1 how many counts before the wrap-around its counters start. Then four bytes make
// a call: which one, by whom, n, m. All bytes mean something, so that every mutation of a script is a script.
//
// What laws.hpp has is compiled once for all targets, in fuzz.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "operations.hpp"

namespace runq::props {

/// Runs the script in `data` on one of the candidates, with everything that a law can look at: every answer is the
/// specification's, every element comes out once, and the answers do not depend on where the counters start. Returns
/// what LLVMFuzzerTestOneInput returns. There is one for each specification of fuzz.cpp.
template <class Spec>
int fuzz(const std::string& stem, const std::vector<candidate>& candidates, const std::uint8_t* data, std::size_t size);

/// Runs `disagrees`, which is chain_disagrees of the header under test, on the script in `data`: one step for each
/// byte.
int fuzz_chain(const std::string& stem, std::string (*disagrees)(const std::vector<std::uint8_t>&),
               const std::uint8_t* data, std::size_t size);

}  // namespace runq::props
