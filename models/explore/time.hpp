// SPDX-License-Identifier: MIT
// The program's clocks, which show the scheduler's time.
#pragma once

#include <cstdint>
#include <ctime>

namespace runq::model::explore {

/// Of the virtual clock; no less than 1. A time without a meaning is over at once.
[[nodiscard]] std::uint64_t deadline_of(clockid_t clock, const timespec& until) noexcept;
[[nodiscard]] std::uint64_t deadline_after(const timespec& duration) noexcept;
[[nodiscard]] std::uint64_t to_nanoseconds(const timespec& t) noexcept;
[[nodiscard]] timespec to_timespec(std::uint64_t nanoseconds) noexcept;

}  // namespace runq::model::explore
