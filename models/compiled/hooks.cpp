// SPDX-License-Identifier: MIT
// What code that was compiled with -fsanitize=thread calls: the interface of ThreadSanitizer's runtime, as g++ 12 and
// clang++ 14 use it. Outside of a check the operations are simply carried out.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include <dlfcn.h>

#include "caller.hpp"
#include "hook.hpp"
#include "session.hpp"

using runq::model::order_of;
using runq::model::rmw_op;
using runq::model::compiled::checker_scope;
using runq::model::compiled::current_session;
using runq::model::compiled::program_memory;
using runq::model::compiled::session;
using runq::model::compiled::this_process;

runq::model::compiled::caller_state runq_caller;

namespace {

/// Compilers put hints into the upper bits.
[[nodiscard]] std::memory_order to_order(int order) { return static_cast<std::memory_order>(order & 7); }

template <class T>
inline constexpr bool is_wide = sizeof(T) == 16;

template <class T>
[[nodiscard]] std::uint64_t to_value(T value) {
  if constexpr (is_wide<T>) {
    return current_session().atomics().wide().number_of(value);
  } else {
    return value;
  }
}
template <class T>
[[nodiscard]] T from_value(std::uint64_t value) {
  if constexpr (is_wide<T>) {
    return current_session().atomics().wide().value_of(value);
  } else {
    return static_cast<T>(value);
  }
}

// Outside of a check there may be real threads.
template <class T>
[[nodiscard]] bool carry_out(T* at, T& expected, T desired) {
  if constexpr (is_wide<T>) {
    const T found = __sync_val_compare_and_swap(at, expected, desired);
    const bool done = found == expected;
    expected = found;
    return done;
  } else {
    return __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  }
}
template <class T>
[[nodiscard]] T carry_out(T* at) {
  if constexpr (is_wide<T>) {
    return __sync_val_compare_and_swap(at, 0, 0);
  } else {
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);
  }
}
template <class T>
T carry_out(T* at, rmw_op op, T operand) {
  T old = carry_out(at);
  for (;;) {
    T desired = operand;
    if constexpr (!is_wide<T>) {
      desired = static_cast<T>(apply(op, old, operand));
    } else if (op != rmw_op::exchange) {
      desired = op == rmw_op::add ? old + operand : old - operand;
    }
    if (carry_out(at, old, desired)) return old;
  }
}

/// Of a load. No compiler makes less of consume than of acquire.
[[nodiscard]] std::memory_order to_order_of_load(int order, session& s) {
  const std::memory_order written = to_order(order);
  if (written != std::memory_order::consume) return written;
  s.omitted().consume = true;
  return std::memory_order::acquire;
}

template <class T>
T load(const volatile T* at, int order, const void* code) {
  auto* const p = const_cast<T*>(at);
  if (!this_process.in_program) return carry_out(p);
  const checker_scope scope;
  session& s = current_session();
  const runq::model::compiled::caller_state& caller = runq_caller;
  s.waits().look_for_loop(caller, code);
  const runq::model::exact::event_id like = s.waits().read_in_earlier_round(caller, p, false, code);
  return from_value<T>(
      s.atomics().load(p, sizeof(T), s.code().effective(to_order_of_load(order, s), order_of::load, code), code, like));
}

template <class T>
void store(volatile T* at, T value, int order, const void* code) {
  auto* const p = const_cast<T*>(at);
  if (!this_process.in_program) {
    carry_out(p, rmw_op::exchange, value);
    return;
  }
  const checker_scope scope;
  session& s = current_session();
  s.atomics().store(p, sizeof(T), to_value(value), s.code().effective(to_order(order), order_of::store, code), code);
}

template <class T>
T rmw(volatile T* at, rmw_op op, T operand, int order, const void* code) {
  auto* const p = const_cast<T*>(at);
  if (!this_process.in_program) return carry_out(p, op, operand);
  const checker_scope scope;
  session& s = current_session();
  if (is_wide<T> && op != rmw_op::exchange) s.code().refuse("arithmetic on an atomic of 128 bits", code);
  const runq::model::compiled::caller_state& caller = runq_caller;
  s.waits().look_for_loop(caller, code);
  static_cast<void>(s.waits().read_in_earlier_round(caller, p, true, code));
  const std::memory_order applied = s.code().effective(to_order(order), order_of::rmw, code);
  return from_value<T>(s.atomics().rmw(p, sizeof(T), op, to_value(operand), applied, code));
}

enum class weakness : std::uint8_t { no, yes, unknown };

template <class T>
bool compare_exchange(volatile T* at, T& expected, T desired, weakness weak, int success, int failure,
                      const void* code) {
  auto* const p = const_cast<T*>(at);
  if (!this_process.in_program) return carry_out(p, expected, desired);
  const checker_scope scope;
  session& s = current_session();
  const runq::model::compiled::caller_state& caller = runq_caller;
  s.waits().look_for_loop(caller, code);
  s.memory().access_expected(&expected, sizeof(T), program_memory::expected_access::read, code);
  const T wanted = expected;
  std::uint64_t value = to_value(expected);
  const runq::model::exact::event_id like = s.waits().read_in_earlier_round(caller, p, false, code);
  const bool done =
      s.atomics().compare_exchange(p, sizeof(T), value, to_value(desired), weak == weakness::yes,
                                   s.code().effective(to_order(success), order_of::rmw, code),
                                   s.code().effective(to_order(failure), order_of::cas_failure, code), code, like);
  if (done && weak == weakness::yes) s.atomics().note_success_of_weak();
  if (done && weak == weakness::unknown) s.omitted().unknown_weakness = true;
  const T found = from_value<T>(value);
  if (!done) {
    s.memory().access_expected(
        &expected, sizeof(T),
        found == wanted ? program_memory::expected_access::left : program_memory::expected_access::changed, code);
  }
  expected = found;
  return done;
}

[[gnu::noinline]] void access(const void* at, std::size_t size, bool is_write, const void* code) {
  if (this_process.in_program)
    runq::model::compiled::this_process.only_session->memory().access_by_program(at, size, is_write, code);
}

/// The most frequent calls, each with code of its own.
template <std::size_t Size, bool IsWrite>
[[gnu::noinline]] void access(const void* at, const void* code) {
  if (this_process.in_program)
    runq::model::compiled::this_process.only_session->memory().access_by_program(at, Size, IsWrite, code);
}

}  // namespace

// The compiler declares these itself, with types of its own.
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"
#endif
#pragma GCC diagnostic ignored "-Wpedantic"

// --- atomic operations -----------------------------------------------------------------------------------------------

#define RUNQ_ATOMIC(bits, type)                                                                                  \
  extern "C" type runq_atomic##bits##_load(const volatile type* at, int order) {                                 \
    return load<type>(at, order, RUNQ_CALLER);                                                                   \
  }                                                                                                              \
  RUNQ_HOOK void __tsan_atomic##bits##_store(volatile type* at, type value, int order) {                         \
    store<type>(at, value, order, RUNQ_CALLER);                                                                  \
  }                                                                                                              \
  extern "C" type runq_atomic##bits##_exchange(volatile type* at, type value, int order) {                       \
    return rmw<type>(at, rmw_op::exchange, value, order, RUNQ_CALLER);                                           \
  }                                                                                                              \
  extern "C" type runq_atomic##bits##_fetch_add(volatile type* at, type value, int order) {                      \
    return rmw<type>(at, rmw_op::add, value, order, RUNQ_CALLER);                                                \
  }                                                                                                              \
  extern "C" type runq_atomic##bits##_fetch_sub(volatile type* at, type value, int order) {                      \
    return rmw<type>(at, rmw_op::sub, value, order, RUNQ_CALLER);                                                \
  }                                                                                                              \
  extern "C" type runq_atomic##bits##_fetch_and(volatile type* at, type value, int order) {                      \
    return rmw<type>(at, rmw_op::bit_and, value, order, RUNQ_CALLER);                                            \
  }                                                                                                              \
  extern "C" type runq_atomic##bits##_fetch_or(volatile type* at, type value, int order) {                       \
    return rmw<type>(at, rmw_op::bit_or, value, order, RUNQ_CALLER);                                             \
  }                                                                                                              \
  extern "C" type runq_atomic##bits##_fetch_xor(volatile type* at, type value, int order) {                      \
    return rmw<type>(at, rmw_op::bit_xor, value, order, RUNQ_CALLER);                                            \
  }                                                                                                              \
  extern "C" type runq_atomic##bits##_fetch_nand(volatile type* at, type value, int order) {                     \
    return rmw<type>(at, rmw_op::bit_nand, value, order, RUNQ_CALLER);                                           \
  }                                                                                                              \
  extern "C" int runq_atomic##bits##_compare_exchange_strong(volatile type* at, type* expected, type desired,    \
                                                             int success, int failure) {                         \
    return compare_exchange<type>(at, *expected, desired, weakness::no, success, failure, RUNQ_CALLER) ? 1 : 0;  \
  }                                                                                                              \
  extern "C" int runq_atomic##bits##_compare_exchange_weak(volatile type* at, type* expected, type desired,      \
                                                           int success, int failure) {                           \
    return compare_exchange<type>(at, *expected, desired, weakness::yes, success, failure, RUNQ_CALLER) ? 1 : 0; \
  }                                                                                                              \
  extern "C" type runq_atomic##bits##_compare_exchange_val(volatile type* at, type expected, type desired,       \
                                                           int success, int failure) {                           \
    compare_exchange<type>(at, expected, desired, weakness::unknown, success, failure, RUNQ_CALLER);             \
    return expected;                                                                                             \
  }

#define RUNQ_ENTRIES(bits)                                         \
  RUNQ_ENTRY("__tsan_", "atomic" #bits "_load")                    \
  RUNQ_ENTRY("__tsan_", "atomic" #bits "_exchange")                \
  RUNQ_ENTRY("__tsan_", "atomic" #bits "_fetch_add")               \
  RUNQ_ENTRY("__tsan_", "atomic" #bits "_fetch_sub")               \
  RUNQ_ENTRY("__tsan_", "atomic" #bits "_fetch_and")               \
  RUNQ_ENTRY("__tsan_", "atomic" #bits "_fetch_or")                \
  RUNQ_ENTRY("__tsan_", "atomic" #bits "_fetch_xor")               \
  RUNQ_ENTRY("__tsan_", "atomic" #bits "_fetch_nand")              \
  RUNQ_ENTRY("__tsan_", "atomic" #bits "_compare_exchange_strong") \
  RUNQ_ENTRY("__tsan_", "atomic" #bits "_compare_exchange_weak")   \
  RUNQ_ENTRY("__tsan_", "atomic" #bits "_compare_exchange_val")

RUNQ_ENTRIES(8)
RUNQ_ENTRIES(16)
RUNQ_ENTRIES(32)
RUNQ_ENTRIES(64)
RUNQ_ENTRIES(128)

RUNQ_ATOMIC(8, std::uint8_t)
RUNQ_ATOMIC(16, std::uint16_t)
RUNQ_ATOMIC(32, std::uint32_t)
RUNQ_ATOMIC(64, std::uint64_t)
RUNQ_ATOMIC(128, unsigned __int128)

// Functions of libatomic. clang calls them for a structure whose own alignment is less than its size, although
// std::atomic aligns it; every compiler calls them for what needs a lock.

namespace {

template <class Function, class... Arguments>
auto call_libatomic(const char* name, const void* code, Arguments... arguments) {
  if (this_process.in_program) {
    this_process.in_program = false;
    current_session().code().refuse(std::string("an atomic variable that needs a lock, by ") + name + "()", code);
  }
  auto* const real = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  if (real == nullptr) std::abort();
  return real(arguments...);
}

/// Calls `perform` with a zero of the type that is as large; false: no such type is atomic without a lock there.
template <class Perform>
bool with_type_of(std::size_t size, const volatile void* at, Perform&& perform) {
  if (reinterpret_cast<std::uintptr_t>(at) % (size == 0 ? 1 : size) != 0) return false;
  switch (size) {
    case 1: perform(std::uint8_t{0}); return true;
    case 2: perform(std::uint16_t{0}); return true;
    case 4: perform(std::uint32_t{0}); return true;
    case 8: perform(std::uint64_t{0}); return true;
    case 16: perform(static_cast<unsigned __int128>(0)); return true;
    default: return false;
  }
}

template <class T>
[[nodiscard]] T read_plain(const void* from, const void* code) {
  access(from, sizeof(T), false, code);
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
void write_plain(void* to, T value, const void* code) {
  access(to, sizeof(T), true, code);
  std::memcpy(to, &value, sizeof value);
}

}  // namespace

extern "C" void runq_atomic_load(std::size_t size, const volatile void* at, void* to, int order) {
  const void* const code = RUNQ_CALLER;
  const bool done = with_type_of(size, at, [&](auto zero) {
    using type = decltype(zero);
    write_plain(to, load<type>(static_cast<const volatile type*>(at), order, code), code);
  });
  if (!done)
    call_libatomic<void(std::size_t, const volatile void*, void*, int)>("__atomic_load", code, size, at, to, order);
}
RUNQ_HOOK void runq_atomic_store(std::size_t size, volatile void* at, void* from, int order) __asm__("__atomic_store");
RUNQ_HOOK void runq_atomic_store(std::size_t size, volatile void* at, void* from, int order) {
  const void* const code = RUNQ_CALLER;
  const bool done = with_type_of(size, at, [&](auto zero) {
    using type = decltype(zero);
    store<type>(static_cast<volatile type*>(at), read_plain<type>(from, code), order, code);
  });
  if (!done)
    call_libatomic<void(std::size_t, volatile void*, void*, int)>("__atomic_store", code, size, at, from, order);
}
extern "C" void runq_atomic_exchange(std::size_t size, volatile void* at, void* from, void* to, int order) {
  const void* const code = RUNQ_CALLER;
  const bool done = with_type_of(size, at, [&](auto zero) {
    using type = decltype(zero);
    auto* const p = static_cast<volatile type*>(at);
    write_plain(to, rmw<type>(p, rmw_op::exchange, read_plain<type>(from, code), order, code), code);
  });
  if (done) return;
  call_libatomic<void(std::size_t, volatile void*, void*, void*, int)>("__atomic_exchange", code, size, at, from, to,
                                                                       order);
}
extern "C" bool runq_atomic_compare_exchange(std::size_t size, volatile void* at, void* expected, void* from,
                                             int success, int failure) {
  const void* const code = RUNQ_CALLER;
  bool exchanged = false;
  const bool done = with_type_of(size, at, [&](auto zero) {
    using type = decltype(zero);
    type value = read_plain<type>(expected, code);
    exchanged = compare_exchange<type>(static_cast<volatile type*>(at), value, read_plain<type>(from, code),
                                       weakness::unknown, success, failure, code);
    if (!exchanged) write_plain(expected, value, code);
  });
  if (done) return exchanged;
  return call_libatomic<bool(std::size_t, volatile void*, void*, void*, int, int)>(
      "__atomic_compare_exchange", code, size, at, expected, from, success, failure);
}
RUNQ_ENTRY("__", "atomic_load")
RUNQ_ENTRY("__", "atomic_exchange")
RUNQ_ENTRY("__", "atomic_compare_exchange")

RUNQ_HOOK void __tsan_atomic_thread_fence(int order) {
  if (!this_process.in_program) return __atomic_thread_fence(__ATOMIC_SEQ_CST);
  const checker_scope scope;
  session& s = current_session();
  const std::memory_order applied = s.code().effective(to_order(order), order_of::fence, RUNQ_CALLER);
  if (applied != std::memory_order::relaxed) s.atomics().fence(applied, RUNQ_CALLER);
}
RUNQ_HOOK void __tsan_atomic_signal_fence(int) {}  // there are no signals in a check

// --- plain accesses --------------------------------------------------------------------------------------------------

#include "plain_hooks.hpp"

// --- calls -----------------------------------------------------------------------------------------------------------

RUNQ_HOOK void __tsan_init() {}
namespace {

[[gnu::noinline]] void enter_function(const void* code) {
  const checker_scope scope;
  current_session().code().enter_function(code);
}

}  // namespace

RUNQ_HOOK void __tsan_func_entry(void* code) {
  if (!this_process.in_program) return;
  const bool is_simple = !this_process.has_begun_stores;
  if (!is_simple || !this_process.only_session->code().enter_function_quickly(code)) enter_function(code);
}
RUNQ_HOOK void __tsan_func_exit() {
  if (!this_process.in_program) return;
  if (this_process.has_begun_stores) const checker_scope finishes_them;
  this_process.only_session->code().leave_function();
}
