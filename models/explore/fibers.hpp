// SPDX-License-Identifier: MIT
// Threads without a kernel: each has a stack and thread-local storage, and one of them runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace runq::model::explore {

struct fiber {
  void* stack_pointer = nullptr;  ///< while it does not run
  std::uintptr_t thread_pointer = 0;
};

/// Before any fiber; finds out where the C library keeps what belongs to a thread.
void prepare_fibers();

/// Memory for place `number`, before it is used or before runs that will use it (working_set).
void prepare_place(std::uint32_t number);

/// Makes place `number` ready to run `entry`, which never returns. Places are at addresses that depend on nothing else.
void make_fiber(fiber& f, std::uint32_t number, void (*entry)());
/// The same for the process's first thread, which keeps its thread-local storage.
void make_main_fiber(fiber& f, void (*entry)());
/// The thread-local storage of the place is no longer needed.
void end_fiber(std::uint32_t number);

void switch_fiber(fiber& from, const fiber& to) noexcept;

/// The number of the place that an address lies in; max_threads: none.
[[nodiscard]] std::uint32_t place_of(std::uintptr_t address) noexcept;
/// The stack of the place, from an address in it on.
[[nodiscard]] std::span<const std::byte> stack_from(std::uint32_t number, const std::byte* begin) noexcept;
[[nodiscard]] std::span<const std::byte> thread_locals_of(std::uint32_t number) noexcept;
[[nodiscard]] std::uintptr_t main_thread_pointer() noexcept;

/// What the C library does in a thread that begins, before anything else.
void begin_thread_locals();
/// Destructors of the running fiber's thread_local variables.
void destroy_thread_locals();

}  // namespace runq::model::explore
