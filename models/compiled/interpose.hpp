// SPDX-License-Identifier: MIT
// What the functions that take the place of the C library's have in common.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <type_traits>

#include <dlfcn.h>
#include <pthread.h>

#include "caller.hpp"
#include "hook.hpp"
#include "start.hpp"

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
  this_process.touched = {reinterpret_cast<const std::byte*>(const_cast<const std::remove_cv_t<T>*>(p)), largest, code};
}
void note_touched(const void*, const auto&...) noexcept {}

/// The program uses that key: it has created it, through the checker.
void require_own_key(pthread_key_t key, const void* code);

/// A spin lock is volatile.
[[nodiscard]] inline void* as_memory(const volatile void* object) noexcept { return const_cast<void*>(object); }

inline constexpr std::uint64_t nanoseconds_per_second = 1'000'000'000;

/// Times before the epoch are the epoch.
[[nodiscard]] inline std::uint64_t to_nanoseconds(const timespec& t) {
  if (t.tv_sec < 0) return 0;
  return static_cast<std::uint64_t>(t.tv_sec) * nanoseconds_per_second + static_cast<std::uint64_t>(t.tv_nsec);
}

[[nodiscard]] inline bool is_time(const timespec& t) noexcept {
  return t.tv_nsec >= 0 && t.tv_nsec < static_cast<long>(nanoseconds_per_second);
}
/// A clock by which a wait can be limited.
[[nodiscard]] inline bool measures_waits(clockid_t clock) noexcept {
  return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

/// The program's time at `t`, read on its behalf.
[[nodiscard]] inline timespec time_at(session& s, const timespec* t, const void* code) {
  s.memory().access(t, sizeof *t, false, code);
  return *t;
}

/// A wait that may time out: either it does, or `take()` succeeds. Returns 0, ETIMEDOUT, or EINVAL, where it would have
/// to wait until what is no time.
template <class Take>
[[nodiscard]] int take_before(session& s, const timespec* until, const void* code, Take&& take) {
  const timespec end = time_at(s, until, code);
  if (!is_time(end)) return take() ? 0 : EINVAL;
  if (s.waits().times_out(code)) {
    s.waits().let_time_pass_until(to_nanoseconds(end));
    return ETIMEDOUT;
  }
  const unsigned since = s.waits().position();
  if (!take()) s.waits().wait_for_others(since, code);
  return 0;
}

}  // namespace runq::model::compiled

// Outside of a check: return what the real function returns.
#define RUNQ_PASS_ON(name, ...)                                \
  if (!this_process.in_program) {                              \
    static auto* const original = real<decltype(name)>(#name); \
    return original(__VA_ARGS__);                              \
  }                                                            \
  const checker_scope scope;                                   \
  session& s = current_session();                              \
  const void* const code = RUNQ_CALLER;                        \
  note_touched(code, __VA_ARGS__);

// The same for a function that initialises an object, by which a check knows it, too.
#define RUNQ_PASS_ON_AND_NOTE(kind, name, object, ...)                                          \
  if (!this_process.in_program && (this_process.initialising || this_process.has_own_checks)) { \
    static auto* const original = real<decltype(name)>(#name);                                  \
    const int result = original(object, __VA_ARGS__);                                           \
    if (result == 0) current_session().objects().note_outside(kind, as_memory(object));         \
    return result;                                                                              \
  }                                                                                             \
  RUNQ_PASS_ON(name, object, __VA_ARGS__)
