// SPDX-License-Identifier: MIT
// futex: where threads sleep: futex(2), and a parker that uses it.
#pragma once

#include <atomic>
#include <cstdint>

#include "runq/protocol/parker.hpp"

namespace runq::detail {

/// futex(2), private to the process. Times are those of the monotonic clock, in ns.
struct futex {
  using word = std::atomic<std::uint32_t>;
  static void wait(word& at, std::uint32_t value) noexcept;
  [[nodiscard]] static std::int64_t deadline(std::int64_t ns) noexcept;
  [[nodiscard]] static bool wait_until(word& at, std::uint32_t value, std::int64_t deadline) noexcept;
  static void wake(word& at) noexcept;
};

using parker = basic_parker<futex>;

}  // namespace runq::detail
