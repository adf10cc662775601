// SPDX-License-Identifier: MIT
// What thread-local storage lies relative to.
#pragma once

#include <cstddef>
#include <cstdint>

#include <asm/prctl.h>
#include <immintrin.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

namespace runq::model::compiled {

namespace {

[[nodiscard]] bool has_instruction() noexcept {
  constexpr unsigned long fsgsbase = 1UL << 1;  // HWCAP2_FSGSBASE
  return (getauxval(AT_HWCAP2) & fsgsbase) != 0;
}
const bool instruction = has_instruction();

}  // namespace

__attribute__((target("fsgsbase"))) void set_thread_pointer(std::byte* to) noexcept {
  if (instruction) {
    _writefsbase_u64(reinterpret_cast<std::uintptr_t>(to));
  } else {
    long result = 0;
    // A raw system call: a function of libc would write errno, which lies relative to the thread pointer.
    asm volatile("syscall" : "=a"(result) : "a"(SYS_arch_prctl), "D"(ARCH_SET_FS), "S"(to) : "rcx", "r11", "memory");
  }
}

}  // namespace runq::model::compiled
