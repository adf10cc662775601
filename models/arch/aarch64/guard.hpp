// SPDX-License-Identifier: MIT
// What the guard of a function-local static holds.
#pragma once

#include <cstddef>
#include <cstdint>

namespace runq::model::compiled {

/// The program's code reads all of it, and looks at the lowest bit: whether the initialisation is done.
struct guard_of_static {
  static constexpr bool first_byte_says_done = false;
  static constexpr unsigned read_bytes = 8;  ///< by the program's code
  static constexpr std::size_t state_at = 0;
  static constexpr std::size_t state_bytes = 8;
  static constexpr std::uint64_t under_way = 2;
  static constexpr std::uint64_t done = 1;
};

}  // namespace runq::model::compiled
