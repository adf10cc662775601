// SPDX-License-Identifier: MIT
// fatal: the ways in which a scheduler ends its process: a message on stderr and status 2, as Go's runtime does it.
#pragma once

#include <exception>
#include <string>
#include <system_error>

namespace runq::detail {

struct strand;

inline constexpr int fatal_status = 2;

/// Writes what is buffered on stdout, then `text` on stderr, and ends the process without running destructors.
[[noreturn]] void fatal(const std::string& text) noexcept;
[[noreturn]] void fatal_not_joined(const std::exception_ptr& left_by) noexcept;
[[noreturn]] void fatal_guard_outlived_mutex() noexcept;
[[noreturn]] void fatal_threads(unsigned limit) noexcept;
[[noreturn]] void fatal_no_thread(const std::system_error& error) noexcept;
[[noreturn]] void fatal_no_memory() noexcept;
[[noreturn]] void fatal_destroyed_by_task() noexcept;

/// The first lines about a task in a list of tasks, or in a panic's message.
[[nodiscard]] std::string heading_of(const strand& s, const std::string& state);
/// Where the task has waited last or, if it has not, where it was started; empty if that is not known.
[[nodiscard]] std::string origin_of(const strand& s);

}  // namespace runq::detail
