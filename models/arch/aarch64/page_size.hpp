// SPDX-License-Identifier: MIT
// The pages by which the system maps and protects memory.
#pragma once

#include <cstddef>

#include <unistd.h>

namespace runq::model {

/// 4, 16 or 64 KiB: the kernel says which.
inline const std::size_t page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
inline constexpr std::size_t largest_page_bytes = std::size_t{64} * 1024;

}  // namespace runq::model
