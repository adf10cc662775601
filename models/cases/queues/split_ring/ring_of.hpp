// SPDX-License-Identifier: MIT
// The split rings that scripts run on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runq/split_ring.hpp"
#include "split_script.hpp"

namespace runq::model {

/// Rings by their capacity, the elements in a run, the first index, and the rest of the options.
template <std::size_t Capacity, std::size_t Run, std::uint32_t First = 0, unsigned Tries = 1, unsigned Polls = 0,
          unsigned TagBits = 37>
struct ring_of {
  static constexpr std::size_t capacity = Capacity;
  static constexpr std::uint32_t first = First;
  static constexpr bool newest_first = false;
  static constexpr split_ring_options options{.run = Run, .tries = Tries, .polls = Polls, .tag_bits = TagBits};
  template <class Policy>
  using type = basic_split_ring<task*, Capacity, options, Policy>;
};

}  // namespace runq::model
