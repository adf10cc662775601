// SPDX-License-Identifier: MIT
// The system's own calls. The C library's functions of the same names belong to the program, and are the explorer's.
#pragma once

#include <cerrno>
#include <type_traits>

#include "system.hpp"

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
  const long result = call_kernel(number, a);
  constexpr long errors = -4095;
  if (result >= 0 || result < errors) return result;
  errno = static_cast<int>(-result);
  return -1;
}

}  // namespace runq::model::explore
