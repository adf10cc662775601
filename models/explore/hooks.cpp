// SPDX-License-Identifier: MIT
// What code that was compiled with -fsanitize=thread calls. Before main() the operations are simply carried out.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "../compiled/hook.hpp"
#include "locations.hpp"
#include "report.hpp"
#include "runtime.hpp"
#include "shadow.hpp"
#include "threads.hpp"

using namespace runq::model::explore;  // NOLINT(google-build-using-namespace): the functions below have C's names
using runq::model::rmw_op;

namespace {

/// Compilers put hints into the upper bits; no compiler makes less of consume than of acquire.
[[nodiscard]] std::memory_order to_order(int order) noexcept {
  const auto written = static_cast<std::memory_order>(order & 7);
  return written == std::memory_order::consume ? std::memory_order::acquire : written;
}
[[nodiscard]] std::uintptr_t address_of(const volatile void* at) noexcept {
  return reinterpret_cast<std::uintptr_t>(at);
}

template <class T>
[[nodiscard]] T load(const volatile T* at, int order, const void* code) {
  if (!exploring) return *at;
  return static_cast<T>(atomic_load(address_of(at), sizeof(T), to_order(order), code));
}
template <class T>
void store(volatile T* at, T value, int order, const void* code) {
  if (!exploring) {
    *at = value;
    return;
  }
  atomic_store(address_of(at), sizeof(T), value, to_order(order), code);
}
template <class T>
T rmw(volatile T* at, rmw_op op, T operand, int order, const void* code) {
  if (exploring) return static_cast<T>(atomic_rmw(address_of(at), sizeof(T), op, operand, to_order(order), code));
  const T old = *at;
  if constexpr (sizeof(T) <= 8) {
    *at = static_cast<T>(apply(op, old, operand));
  } else if (op == rmw_op::exchange) {
    *at = operand;
  } else {
    refuse("arithmetic on an atomic of 128 bits");
  }
  return old;
}
template <class T>
bool compare_exchange(volatile T* at, T& expected, T desired, bool is_weak, int success, int failure,
                      const void* code) {
  wide found = expected;
  bool done = false;
  if (exploring) {
    done = atomic_compare_exchange(address_of(at), sizeof(T), found, desired, is_weak, to_order(success),
                                   to_order(failure), code);
  } else {
    found = *at;
    done = found == expected;
    if (done) *at = desired;
  }
  if (!done) expected = static_cast<T>(found);
  return done;
}

template <std::size_t Size, bool IsWrite>
void access(const void* at, const void* code) {
  runq::model::explore::access<Size>(address_of(at), IsWrite ? is_a_write : 0, code);
}
void access(const void* at, std::size_t size, bool is_write, const void* code) {
  runq::model::explore::access(address_of(at), size, is_write ? is_a_write : 0, code);
}

/// Those that have not ended, or that have left without saying so, as by longjmp() and where a coroutine is suspended.
[[gnu::noinline]] void forget_outer_calls() {
  constexpr std::size_t inner = calls_kept / 2;
  std::copy(self->calls - inner, self->calls, self->calls_begin);
  self->calls = self->calls_begin + inner;
}

}  // namespace

// The compiler declares these itself, with types of its own.
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"
#endif
#pragma GCC diagnostic ignored "-Wpedantic"

#define RUNQ_RMW(bits, type, name)                                                              \
  RUNQ_HOOK type __tsan_atomic##bits##_fetch_##name(volatile type* at, type value, int order) { \
    return rmw<type>(at, rmw_op::RUNQ_OP_##name, value, order, RUNQ_CALLER);                    \
  }
#define RUNQ_OP_add add
#define RUNQ_OP_sub sub
#define RUNQ_OP_and bit_and
#define RUNQ_OP_or bit_or
#define RUNQ_OP_xor bit_xor
#define RUNQ_OP_nand bit_nand

#define RUNQ_ATOMIC(bits, type)                                                                                \
  RUNQ_HOOK type __tsan_atomic##bits##_load(const volatile type* at, int order) {                              \
    return load<type>(at, order, RUNQ_CALLER);                                                                 \
  }                                                                                                            \
  RUNQ_HOOK void __tsan_atomic##bits##_store(volatile type* at, type value, int order) {                       \
    store<type>(at, value, order, RUNQ_CALLER);                                                                \
  }                                                                                                            \
  RUNQ_HOOK type __tsan_atomic##bits##_exchange(volatile type* at, type value, int order) {                    \
    return rmw<type>(at, rmw_op::exchange, value, order, RUNQ_CALLER);                                         \
  }                                                                                                            \
  RUNQ_RMW(bits, type, add)                                                                                    \
  RUNQ_RMW(bits, type, sub)                                                                                    \
  RUNQ_RMW(bits, type, and)                                                                                    \
  RUNQ_RMW(bits, type, or)                                                                                     \
  RUNQ_RMW(bits, type, xor)                                                                                    \
  RUNQ_RMW(bits, type, nand)                                                                                   \
  RUNQ_HOOK int __tsan_atomic##bits##_compare_exchange_strong(volatile type* at, type* expected, type desired, \
                                                              int success, int failure) {                      \
    return compare_exchange<type>(at, *expected, desired, false, success, failure, RUNQ_CALLER) ? 1 : 0;       \
  }                                                                                                            \
  RUNQ_HOOK int __tsan_atomic##bits##_compare_exchange_weak(volatile type* at, type* expected, type desired,   \
                                                            int success, int failure) {                        \
    return compare_exchange<type>(at, *expected, desired, true, success, failure, RUNQ_CALLER) ? 1 : 0;        \
  }                                                                                                            \
  RUNQ_HOOK type __tsan_atomic##bits##_compare_exchange_val(volatile type* at, type expected, type desired,    \
                                                            int success, int failure) {                        \
    compare_exchange<type>(at, expected, desired, false, success, failure, RUNQ_CALLER);                       \
    return expected;                                                                                           \
  }

RUNQ_ATOMIC(8, std::uint8_t)
RUNQ_ATOMIC(16, std::uint16_t)
RUNQ_ATOMIC(32, std::uint32_t)
RUNQ_ATOMIC(64, std::uint64_t)
RUNQ_ATOMIC(128, unsigned __int128)

RUNQ_HOOK void __tsan_atomic_thread_fence(int order) {
  if (exploring) atomic_fence(to_order(order), RUNQ_CALLER);
}
RUNQ_HOOK void __tsan_atomic_signal_fence(int) {}

// --- plain accesses --------------------------------------------------------------------------------------------------

#include "../compiled/plain_hooks.hpp"

// --- calls -----------------------------------------------------------------------------------------------------------

RUNQ_HOOK void __tsan_init() {}
RUNQ_HOOK void __tsan_func_entry(void* code) {
  if (!exploring) return;
  if (self->calls == self->calls_begin + calls_kept) forget_outer_calls();
  *self->calls++ = code;
}
RUNQ_HOOK void __tsan_func_exit() {
  if (exploring && self->calls != self->calls_begin) --self->calls;
}
