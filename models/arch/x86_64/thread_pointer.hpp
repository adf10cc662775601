// SPDX-License-Identifier: MIT
// What thread-local variables lie relative to, and by which the C library knows the running thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <asm/prctl.h>
#include <immintrin.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "system.hpp"

namespace runq::model {

/// Whether the kernel lets programs set the thread pointer by an instruction.
inline const bool has_fsgsbase = [] {
  constexpr unsigned long fsgsbase = 1UL << 1;  // HWCAP2_FSGSBASE
  return (getauxval(AT_HWCAP2) & fsgsbase) != 0;
}();

__attribute__((target("fsgsbase"))) inline void set_thread_pointer(std::byte* to) noexcept {
  if (has_fsgsbase) {
    _writefsbase_u64(reinterpret_cast<std::uintptr_t>(to));
  } else {
    // A function of libc would write errno, which lies relative to the thread pointer.
    static_cast<void>(call_kernel(SYS_arch_prctl, {ARCH_SET_FS, reinterpret_cast<long>(to)}));
  }
}

// --- the C library's record of a thread
//
// Where glibc keeps what belongs to a thread, relative to that pointer: thread-local variables lie below it, and
// its own record of the thread, struct pthread, begins there.

inline constexpr bool thread_locals_lie_below = true;
/// In struct pthread nothing that differs between threads comes before.
inline constexpr std::size_t thread_header_bytes = 704;

/// Where struct pthread begins. `bytes`: how large it is.
[[nodiscard]] inline std::uintptr_t thread_record(std::uintptr_t pointer, std::size_t) noexcept { return pointer; }

/// What compiled code reads there: the pointer itself, that there are several threads, and the random numbers that
/// guard stacks and pointers, as the main thread has them.
inline void fill_thread_block(std::uintptr_t pointer, std::uintptr_t main_pointer) noexcept {
  constexpr std::size_t self_offset = 16;
  constexpr std::size_t several_threads_offset = 24;
  constexpr std::size_t guards_offset = 40;
  constexpr std::size_t guards_bytes = 16;
  const auto put = [pointer](std::size_t offset, auto value) {
    std::memcpy(reinterpret_cast<void*>(pointer + offset), &value, sizeof value);
  };
  put(0, pointer);
  put(self_offset, pointer);
  put(several_threads_offset, std::uint32_t{1});
  std::memcpy(reinterpret_cast<void*>(pointer + guards_offset), reinterpret_cast<void*>(main_pointer + guards_offset),
              guards_bytes);
}

}  // namespace runq::model
