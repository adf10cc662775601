// SPDX-License-Identifier: MIT
// A processor_queue over a split_ring. bench/results/decisions.md compares it.
#pragma once

#include <cstdint>

#include "runq/detail/policy.hpp"
#include "runq/detail/strand.hpp"
#include "runq/local_queue.hpp"
#include "runq/split_ring.hpp"

namespace runq::detail {

using processor_queue = basic_local_queue<&strand::link, 256, std::uint32_t, policy,
                                          basic_split_ring<strand*, 256, default_split_ring, policy>>;

}  // namespace runq::detail
