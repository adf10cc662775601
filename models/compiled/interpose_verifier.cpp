// SPDX-License-Identifier: MIT
// What programs call that were written for other checkers, by the names that the competition on software verification
// (SV-COMP) has made usual, and what those checkers have instead of the C library. A program declares them itself.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "interpose.hpp"

using namespace runq::model::compiled;  // NOLINT(google-build-using-namespace): the functions below have C's names
using runq::model::failure;

/// Only executions in which the condition holds count. Outside of a check there is no other execution to go on with.
RUNQ_HOOK void __VERIFIER_assume(int condition) noexcept {
  if (condition != 0) return;
  if (!this_process.in_program) {
    std::fputs("__VERIFIER_assume: the condition does not hold\n", stderr);
    abort();
  }
  this_process.in_program = false;
  session& s = current_session();
  // What was read last decides the condition in most programs.
  s.waits().wait_for_others(s.waits().position() - std::min(s.waits().position(), 1U), RUNQ_CALLER);
}

/// Must not be reached.
RUNQ_HOOK __attribute__((noreturn)) void __VERIFIER_error() {
  if (!this_process.in_program) {
    std::fputs("__VERIFIER_error: reached\n", stderr);
    std::abort();
  }
  this_process.in_program = false;
  current_session().code().fail(failure::check_failed, "__VERIFIER_error() is reached", RUNQ_CALLER);
}

/// Returns true or false: both are explored.
RUNQ_HOOK bool __VERIFIER_nondet_bool() noexcept {
  if (!this_process.in_program) return false;
  const checker_scope scope;
  return current_session().code().choose(2, RUNQ_CALLER) != 0;
}

namespace {

/// Any value of the range that --nondet names, as far as the type has it: each is explored.
template <class T>
[[nodiscard]] T any_value(const char* name, const void* code) {
  session& s = current_session();
  const value_range& range = s.limits().any_value;
  constexpr auto least = static_cast<std::int64_t>(std::numeric_limits<T>::min());
  constexpr std::int64_t most = sizeof(T) < sizeof(std::int64_t)
                                    ? static_cast<std::int64_t>(std::numeric_limits<T>::max())
                                    : std::numeric_limits<std::int64_t>::max();
  const std::int64_t first = std::max(range.first, least);
  const std::int64_t last = std::min(range.last, most);
  if (first > last)
    s.code().give_up(fmt::format("{}(): its type has no value of --nondet {}", name, to_text(range)), code);
  s.omitted().values = true;
  const auto alternatives = static_cast<unsigned>(last - first + 1);
  return static_cast<T>(first + (alternatives == 1 ? 0 : std::int64_t{s.code().choose(alternatives, code)}));
}

[[nodiscard]] pthread_t start_thread(void* (*function)(void*), void* argument, const void* code) {
  const checker_scope scope;
  return current_session().spawn(function, argument, code);
}

}  // namespace

#define RUNQ_ANY(suffix, type)                                         \
  RUNQ_HOOK type __VERIFIER_nondet_##suffix() noexcept {               \
    if (!this_process.in_program) return 0;                            \
    const checker_scope scope;                                         \
    return any_value<type>("__VERIFIER_nondet_" #suffix, RUNQ_CALLER); \
  }
RUNQ_ANY(char, char)
RUNQ_ANY(uchar, unsigned char)
RUNQ_ANY(short, short)
RUNQ_ANY(ushort, unsigned short)
RUNQ_ANY(int, int)
RUNQ_ANY(uint, unsigned)
RUNQ_ANY(unsigned, unsigned)
RUNQ_ANY(long, long)
RUNQ_ANY(ulong, unsigned long)
RUNQ_ANY(longlong, long long)
RUNQ_ANY(ulonglong, unsigned long long)
RUNQ_ANY(size_t, std::size_t)
RUNQ_ANY(u8, std::uint8_t)
RUNQ_ANY(u16, std::uint16_t)
RUNQ_ANY(u32, std::uint32_t)

// No range has values of these that a program could mean.
#define RUNQ_NO_VALUE(suffix)                                                                                \
  RUNQ_HOOK long __VERIFIER_nondet_##suffix() noexcept {                                                     \
    if (!this_process.in_program) return 0;                                                                  \
    this_process.in_program = false;                                                                         \
    current_session().code().refuse("__VERIFIER_nondet_" #suffix "(), which may be any value", RUNQ_CALLER); \
  }
RUNQ_NO_VALUE(pointer)
RUNQ_NO_VALUE(float)
RUNQ_NO_VALUE(double)

// Hints that tell other checkers which loops wait, and how many rounds they may make: here the checker sees that
// itself.
RUNQ_HOOK void __VERIFIER_loop_begin() noexcept {}
RUNQ_HOOK void __VERIFIER_spin_start() noexcept {}
RUNQ_HOOK void __VERIFIER_spin_end(int) noexcept {}
RUNQ_HOOK void __VERIFIER_loop_bound(int) noexcept {}

/// As pthread_create().
RUNQ_HOOK pthread_t __VERIFIER_spawn(void* (*function)(void*), void* argument) {
  pthread_t thread{};
  if (this_process.in_program) return start_thread(function, argument, RUNQ_CALLER);
  pthread_create(&thread, nullptr, function, argument);
  return thread;
}
/// The same: that the thread does what `like` does would spare executions, which are explored here.
RUNQ_HOOK pthread_t __VERIFIER_spawn_symmetric(void* (*function)(void*), void* argument, pthread_t) {
  pthread_t thread{};
  if (this_process.in_program) return start_thread(function, argument, RUNQ_CALLER);
  pthread_create(&thread, nullptr, function, argument);
  return thread;
}

// --- Annex K of C11, which glibc does not have ----------------------------------------------------------------------

namespace {

constexpr std::size_t largest = SIZE_MAX >> 1;  // RSIZE_MAX

void note_access(const void* at, std::size_t size, bool is_write, const void* code) {
  if (!this_process.in_program) return;
  const checker_scope scope;
  current_session().memory().access(at, size, is_write, code);
}

}  // namespace

/// Where a constraint is violated, `to` becomes zeros, if that can be.
RUNQ_HOOK int memcpy_s(void* to, std::size_t room, const void* from, std::size_t size) {
  if (to == nullptr || room > largest) return EINVAL;
  const auto target = reinterpret_cast<std::uintptr_t>(to);
  const auto source = reinterpret_cast<std::uintptr_t>(from);
  if (from == nullptr || size > room || (source < target + size && target < source + size)) {
    note_access(to, room, true, RUNQ_CALLER);
    std::memset(to, 0, room);
    return ERANGE;
  }
  note_access(from, size, false, RUNQ_CALLER);
  note_access(to, size, true, RUNQ_CALLER);
  std::memcpy(to, from, size);
  return 0;
}
RUNQ_HOOK int memset_s(void* to, std::size_t room, int value, std::size_t size) {
  if (to == nullptr || room > largest) return EINVAL;
  const std::size_t written = std::min(size, room);
  note_access(to, written, true, RUNQ_CALLER);
  std::memset(to, value, written);
  return size > room ? ERANGE : 0;
}
