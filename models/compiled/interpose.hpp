// SPDX-License-Identifier: MIT
// What the functions that take the place of the C library's have in common.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <ctime>

#include <dlfcn.h>

#include "start.hpp"

#define RUNQ_HOOK extern "C" __attribute__((visibility("default")))
#define RUNQ_CALLER __builtin_return_address(0)

namespace runq::model::compiled {

/// The function of that name that would have been called without the checker.
template <class Function>
[[nodiscard]] Function* real(const char* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) std::abort();
  return reinterpret_cast<Function*>(found);
}

inline constexpr std::uint64_t nanoseconds_per_second = 1'000'000'000;

/// Times before the epoch are the epoch.
[[nodiscard]] inline std::uint64_t to_nanoseconds(const timespec& t) {
  if (t.tv_sec < 0) return 0;
  return static_cast<std::uint64_t>(t.tv_sec) * nanoseconds_per_second + static_cast<std::uint64_t>(t.tv_nsec);
}

/// What may end by a timeout does, or `take()` succeeds: false for a timeout.
template <class Take>
[[nodiscard]] bool take_before(session& s, const timespec& until, const void* code, Take&& take) {
  if (s.times_out(code)) {
    s.let_time_pass_until(to_nanoseconds(until));
    return false;
  }
  if (!take()) s.wait_for_others(code);
  return true;
}

}  // namespace runq::model::compiled

// Outside of a check: return what the real function returns.
#define RUNQ_PASS_ON(name, ...)                                \
  if (!in_program) {                                           \
    static auto* const original = real<decltype(name)>(#name); \
    return original(__VA_ARGS__);                              \
  }                                                            \
  const checker_scope scope;                                   \
  session& s = current_session();                              \
  const void* const code = RUNQ_CALLER;
