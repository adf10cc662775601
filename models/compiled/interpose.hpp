// SPDX-License-Identifier: MIT
// What the functions that take the place of the C library's have in common.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <type_traits>

#include <dlfcn.h>

#include "caller.hpp"
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

/// A function that takes the place of the C library's is about to use the object at `p`, its first argument.
template <class T>
void note_touched(const void* code, T* p, const auto&...) noexcept {
  constexpr std::size_t largest = 128;  // of these objects
  touched = {reinterpret_cast<const std::byte*>(const_cast<const std::remove_cv_t<T>*>(p)), largest, code};
}
void note_touched(const void*, const auto&...) noexcept {}

inline constexpr std::uint64_t nanoseconds_per_second = 1'000'000'000;

/// Times before the epoch are the epoch.
[[nodiscard]] inline std::uint64_t to_nanoseconds(const timespec& t) {
  if (t.tv_sec < 0) return 0;
  return static_cast<std::uint64_t>(t.tv_sec) * nanoseconds_per_second + static_cast<std::uint64_t>(t.tv_nsec);
}

/// A wait that may time out: either it does, or `take()` succeeds. Returns false for a timeout.
template <class Take>
[[nodiscard]] bool take_before(session& s, const timespec& until, const void* code, Take&& take) {
  if (s.times_out(code)) {
    s.let_time_pass_until(to_nanoseconds(until));
    return false;
  }
  const unsigned since = s.position();
  if (!take()) s.wait_for_others(since, code);
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
  const void* const code = RUNQ_CALLER;                        \
  note_touched(code, __VA_ARGS__);
