// SPDX-License-Identifier: MIT
// The split deques that scripts run on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runq/split_deque.hpp"
#include "split_script.hpp"

namespace runq::model {

/// Deques by their capacity, how many private elements make a push publish half of them, the first index, and the rest
/// of the options.
template <std::size_t Capacity, std::size_t Publish, std::uint32_t First = 0, unsigned Tries = 1, unsigned Polls = 0,
          unsigned TagBits = 37>
struct deque_of {
  static constexpr std::size_t capacity = Capacity;
  static constexpr std::uint32_t first = First;
  static constexpr bool newest_first = true;
  static constexpr split_deque_options options{.publish = Publish, .tries = Tries, .polls = Polls, .tag_bits = TagBits};
  template <class Policy>
  using type = basic_split_deque<task*, Capacity, options, Policy>;
};

}  // namespace runq::model
