// SPDX-License-Identifier: MIT
// What the guard of a function-local static holds.
#pragma once

#include <cstddef>
#include <cstdint>

namespace runq::model::compiled {

/// The program's code looks at the first byte: whether the initialisation is done. The second half says how far it is.
struct guard_of_static {
  static constexpr bool first_byte_says_done = true;
  static constexpr unsigned read_bytes = 1;  ///< by the program's code
  static constexpr std::size_t state_at = 4;
  static constexpr std::size_t state_bytes = 4;
  static constexpr std::uint64_t under_way = 1;
  static constexpr std::uint64_t done = 2;
};

}  // namespace runq::model::compiled
