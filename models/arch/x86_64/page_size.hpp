// SPDX-License-Identifier: MIT
// The pages by which the system maps and protects memory.
#pragma once

#include <cstddef>

namespace runq::model {

inline constexpr std::size_t page_bytes = 4096;
inline constexpr std::size_t largest_page_bytes = page_bytes;

}  // namespace runq::model
