// SPDX-License-Identifier: MIT
// The system's own calls. The C library's functions of the same names belong to the program, and are the explorer's.
#pragma once

#include <cerrno>
#include <type_traits>

namespace runq::model::explore {

/// As syscall(2): -1, and errno, if it fails.
template <class... Arguments>
long system_call(long number, Arguments... arguments) noexcept {
  static_assert(sizeof...(Arguments) <= 6);
  long a[6]{};
  unsigned n = 0;
  const auto put = [&](auto argument) {
    if constexpr (std::is_null_pointer_v<decltype(argument)>) {
      a[n++] = 0;
    } else if constexpr (std::is_pointer_v<decltype(argument)>) {
      a[n++] = reinterpret_cast<long>(argument);
    } else {
      a[n++] = static_cast<long>(argument);
    }
  };
  (put(arguments), ...);
  long result = number;
  register long fourth asm("r10") = a[3];
  register long fifth asm("r8") = a[4];
  register long sixth asm("r9") = a[5];
  asm volatile("syscall"
               : "+a"(result)
               : "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(fourth), "r"(fifth), "r"(sixth)
               : "rcx", "r11", "memory");
  constexpr long errors = -4095;
  if (result >= 0 || result < errors) return result;
  errno = static_cast<int>(-result);
  return -1;
}

}  // namespace runq::model::explore
