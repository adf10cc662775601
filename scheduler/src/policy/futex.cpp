// SPDX-License-Identifier: MIT
#include "runq/detail/futex.hpp"

#include <chrono>

#include "runq/eventcount.hpp"

namespace runq::detail {

void futex::wait(word& at, std::uint32_t value) noexcept { word_sleep::wait(at, value); }

std::int64_t futex::deadline(std::int64_t ns) noexcept {
  return std::chrono::nanoseconds(word_sleep::clock::now().time_since_epoch()).count() + ns;
}

bool futex::wait_until(word& at, std::uint32_t value, std::int64_t deadline) noexcept {
  return word_sleep::wait_until(at, value, word_sleep::clock::time_point(std::chrono::nanoseconds(deadline)));
}

void futex::wake(word& at) noexcept { word_sleep::wake(at, 1); }

}  // namespace runq::detail
