// SPDX-License-Identifier: MIT
// What thread-local variables lie relative to, and by which the C library knows the running thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace runq::model {

inline void set_thread_pointer(std::byte* to) noexcept { asm volatile("msr tpidr_el0, %0" : : "r"(to) : "memory"); }

// --- the C library's record of a thread
//
// Where glibc keeps what belongs to a thread, relative to that pointer: thread-local variables lie above it, and
// its own record of the thread, struct pthread, ends there.

inline constexpr bool thread_locals_lie_below = false;
/// In struct pthread nothing that differs between threads comes before.
inline constexpr std::size_t thread_header_bytes = 192;

/// Where struct pthread begins. `bytes`: how large it is.
[[nodiscard]] inline std::uintptr_t thread_record(std::uintptr_t pointer, std::size_t bytes) noexcept {
  return pointer - bytes;
}

/// Compiled code reads nothing there: the numbers that guard stacks are global variables.
inline void fill_thread_block(std::uintptr_t, std::uintptr_t) noexcept {}

}  // namespace runq::model
