// SPDX-License-Identifier: MIT
// What thread-local variables lie relative to, and by which the C library knows the running thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include <asm/prctl.h>
#include <immintrin.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

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
    long result = 0;
    // A raw system call: a function of libc would write errno, which lies relative to the thread pointer.
    asm volatile("syscall" : "=a"(result) : "a"(SYS_arch_prctl), "D"(ARCH_SET_FS), "S"(to) : "rcx", "r11", "memory");
  }
}

}  // namespace runq::model
