// SPDX-License-Identifier: MIT
// The atomics policy for GenMC: the compiler's own atomic operations, and plain memory, whose races GenMC finds itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "engine.hpp"
#include "narrow.hpp"

namespace runq::model {

/// std::atomic, except that a default-constructed one stays uninitialised, as in the other models: GenMC reports a
/// read. Not std::atomic itself, because the standard library's inline functions may leave the order a run-time value.
template <class T>
class atomic {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));

 public:
  atomic() {}                         // NOLINT(modernize-use-equals-default): must leave the value alone
  atomic(T value) : value_(value) {}  // NOLINT(google-explicit-constructor): as std::atomic's
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  [[gnu::always_inline]] T load(std::memory_order order, const char* = "", int = 0) const {
    T value;
    __atomic_load(&value_, &value, static_cast<int>(order));
    return value;
  }
  [[gnu::always_inline]] void store(T value, std::memory_order order, const char* = "", int = 0) {
    __atomic_store(&value_, &value, static_cast<int>(order));
  }
  [[gnu::always_inline]] T exchange(T value, std::memory_order order, const char* = "", int = 0) {
    T old;
    __atomic_exchange(&value_, &value, &old, static_cast<int>(order));
    return old;
  }
  [[gnu::always_inline]] T fetch_add(T value, std::memory_order order, const char* = "", int = 0) {
    return __atomic_fetch_add(&value_, value, static_cast<int>(order));
  }
  [[gnu::always_inline]] T fetch_sub(T value, std::memory_order order, const char* = "", int = 0) {
    return __atomic_fetch_sub(&value_, value, static_cast<int>(order));
  }
  [[gnu::always_inline]] T fetch_and(T value, std::memory_order order, const char* = "", int = 0) {
    return __atomic_fetch_and(&value_, value, static_cast<int>(order));
  }
  [[gnu::always_inline]] T fetch_or(T value, std::memory_order order, const char* = "", int = 0) {
    return __atomic_fetch_or(&value_, value, static_cast<int>(order));
  }
  [[gnu::always_inline]] T fetch_xor(T value, std::memory_order order, const char* = "", int = 0) {
    return __atomic_fetch_xor(&value_, value, static_cast<int>(order));
  }
  [[gnu::always_inline]] bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                                                    std::memory_order failure, const char* = "", int = 0) {
    return __atomic_compare_exchange(&value_, &expected, &desired, true, static_cast<int>(success),
                                     static_cast<int>(failure));
  }
  [[gnu::always_inline]] bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                                                      std::memory_order failure, const char* = "", int = 0) {
    return __atomic_compare_exchange(&value_, &expected, &desired, false, static_cast<int>(success),
                                     static_cast<int>(failure));
  }

 private:
  union {  // so that a T with a default constructor stays uninitialised too
    alignas(sizeof(T)) T value_;
  };
};

/// Plain memory. Volatile, so that the optimiser keeps every access for GenMC to see.
template <class T>
class cell {
 public:
  cell() {}  // NOLINT(modernize-use-equals-default): must leave the value alone
  explicit cell(T value, const char* = "", int = 0) : value_(value) {}
  cell(const cell&) = delete;
  cell& operator=(const cell&) = delete;

  [[nodiscard]] [[gnu::always_inline]] T get(const char* = "", int = 0) const {
    if constexpr (std::is_scalar_v<T>) {
      return *static_cast<const volatile T*>(&value_);
    } else {
      return value_;
    }
  }
  [[gnu::always_inline]] void set(T value, const char* = "", int = 0) {
    if constexpr (std::is_scalar_v<T>) {
      *static_cast<volatile T*>(&value_) = value;
    } else {
      value_ = value;
    }
  }

 private:
  union {
    T value_;
  };
};

class mutex {
 public:
  mutex() = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;
  void lock(const char* = "", int = 0) { __VERIFIER_mutex_lock(&mutex_); }
  bool try_lock(const char* = "", int = 0) { return __VERIFIER_mutex_trylock(&mutex_) == 0; }
  void unlock(const char* = "", int = 0) { __VERIFIER_mutex_unlock(&mutex_); }

 private:
  runq_genmc_mutex mutex_{0};
};

/// The policy to instantiate a queue with; see runq/atomics.hpp for what each member promises.
struct atomics {
  template <class T>
  using atomic = model::atomic<T>;
  template <class T>
  using cell = model::cell<T>;
  using mutex = model::mutex;

  [[gnu::always_inline]] static void fence(std::memory_order order, const char* = "", int = 0) {
    __atomic_thread_fence(static_cast<int>(order));
  }
  [[gnu::always_inline]] static void light_fence(std::memory_order order, const char* = "", int = 0) { fence(order); }
  [[gnu::always_inline]] static void heavy_fence(std::memory_order order, const char* = "", int = 0) { fence(order); }
  static void* allocate(std::size_t bytes, const char* = "", int = 0) { return __VERIFIER_malloc(bytes); }
  static void deallocate(void* p, const char* = "", int = 0) { __VERIFIER_free(p); }
  static void pause(const char* = "", int = 0) {}
  [[gnu::always_inline]] static void check(bool ok, const char* what, const char* file = __builtin_FILE(),
                                           int line = __builtin_LINE()) {
    if (!ok) __VERIFIER_assert_fail(what, file, line);
  }
  /// 0: a scenario hands queues from its constructor to its threads.
  [[nodiscard]] static constexpr std::uintptr_t thread_token() noexcept { return 0; }
};

/// A check of a scenario's own.
[[gnu::always_inline]] inline void require(bool ok, const char* what, const char* file = __builtin_FILE(),
                                           int line = __builtin_LINE()) {
  atomics::check(ok, what, file, line);
}
[[gnu::always_inline]] inline void require(bool ok, failure, const char* what, const char* file = __builtin_FILE(),
                                           int line = __builtin_LINE()) {
  atomics::check(ok, what, file, line);
}

}  // namespace runq::model
