// SPDX-License-Identifier: MIT
// The atomics policy: a queue of this kit touches shared memory only through it.
//
// Every queue is a template over a policy. `std_atomics`, below, is the one that ships: each of its members is the
// standard library's, with no cost of its own. The model checkers and the property suites put their own policy in its
// place, so that they check the headers that ship, not copies of them.
//
// A policy P provides
//   P::atomic<T>            like std::atomic<T>: load, store, exchange, compare_exchange_{weak,strong}, fetch_add, …
//   P::cell<T>              plain, non-atomic memory: get() and set(); a model checks it for data races
//   P::mutex                lock(), unlock(), try_lock()
//   P::fence(order)         like std::atomic_thread_fence
//   P::light_fence(order)   one side of a pair of fences: cheap, for the thread that makes it often. It is ordered with
//                           a heavy_fence of another thread as two std::atomic_thread_fence(order) are, and is not
//                           ordered with another light_fence
//   P::heavy_fence(order)   the other side of the pair; it may cost microseconds
//   P::allocate(bytes)      memory aligned for any fundamental type, or nullptr
//   P::deallocate(p)        gives it back
//   P::pause()              a hint that the caller is waiting for another thread
//   P::check(ok, what)      a contract of the queue; debug builds and models stop when `ok` is false
//   P::thread_token()       a value that differs between threads and is never 0; 0 means "do not check"
#pragma once

#if __cplusplus <= 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG <= 201703L)
#error "runqkit needs C++20: compile with -std=c++20, or as your compiler calls it"
#else

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>

#include "runq/version.hpp"

namespace runq {

namespace detail {

/// Ends the process with one line on stderr. Called only when the caller broke a documented contract.
[[noreturn]] inline void contract_violated(const char* what) noexcept {
  std::fprintf(stderr, "runq: %s\n", what);
  std::abort();
}

}  // namespace detail

/// The production policy: std::atomic, plain memory, std::mutex.
struct std_atomics {
  template <class T>
  using atomic = std::atomic<T>;

  /// Plain memory behind two functions. In production this is the bare value; in a model every access is checked.
  template <class T>
  class cell {
   public:
    constexpr cell() noexcept = default;
    constexpr explicit cell(T value) noexcept : value_(value) {}
    [[nodiscard]] constexpr T get() const noexcept { return value_; }
    constexpr void set(T value) noexcept { value_ = value; }

   private:
    T value_{};
  };

  using mutex = std::mutex;

  static void fence(std::memory_order order) noexcept {
    // g++ warns that ThreadSanitizer does not model fences. In this kit a fence only orders a store against a later
    // load (Dekker); data is always published by a release store, which the sanitizer does see.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
    std::atomic_thread_fence(order);
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
  }
  /// Both fences of the pair are fences of the language here: correct on every platform.
  static void light_fence(std::memory_order order) noexcept { fence(order); }
  static void heavy_fence(std::memory_order order) noexcept { fence(order); }

  [[nodiscard]] static void* allocate(std::size_t bytes) noexcept { return ::operator new(bytes, std::nothrow); }
  static void deallocate(void* p) noexcept { ::operator delete(p); }

  /// About 10 to 150 cycles, by processor; never a system call.
  static void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ __volatile__("yield" ::: "memory");
#endif
  }

  /// Debug builds end the process with `what` when `ok` is false; with NDEBUG the argument is evaluated, and nothing
  /// else happens.
  static void check([[maybe_unused]] bool ok, [[maybe_unused]] const char* what) noexcept {
#ifndef NDEBUG
    if (!ok) detail::contract_violated(what);
#endif
  }

  /// The address of a thread-local byte: unique among the threads alive, and cheap.
  [[nodiscard]] static std::uintptr_t thread_token() noexcept {
#ifndef NDEBUG
    static thread_local char token;
    return reinterpret_cast<std::uintptr_t>(&token);
#else
    return 0;
#endif
  }
};

/// `Atomics` without the check that one thread at a time uses an owner handle. For a host that keeps this rule by other
/// means: producers under its mutex, or a pop by a thread that has joined the owner's thread. The host must order the
/// last operation of one owner before the first operation of the next. An owner handle is then only a pointer:
/// make_owner() may be called any number of times, and costs nothing (see one_object).
template <class Atomics = std_atomics>
struct unchecked_owner : Atomics {
  [[nodiscard]] static constexpr std::uintptr_t thread_token() noexcept { return 0; }
};

}  // namespace runq

#endif  // C++20
