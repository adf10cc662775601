// SPDX-License-Identifier: MIT
// The atomics policy of the simulator: every operation costs virtual time, by the state of its cache line. Objects have
// the size and the layout that they have with std_atomics, so that what shares a line there shares one here.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "runq/atomics.hpp"
#include "runq/detail/policy.hpp"
#include "runq/protocol/short_lock.hpp"
#include "world.hpp"

namespace runq::simulate {

/// The value at `from`, when its line is there.
template <class T>
[[nodiscard]] T loaded(const T& from, site where) noexcept {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  if (!world::here().load(&from, where, bits)) return from;
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof value);
  return value;
}

/// std::atomic in virtual time, as x86 orders it: an operation takes effect when its line is there, a store when it
/// leaves the store buffer. Memory orders other than seq_cst change nothing.
template <class T>
class atomic {
 public:
  atomic() noexcept = default;
  // NOLINTNEXTLINE(google-explicit-constructor): as std::atomic's
  atomic(T value) noexcept : value_(value) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load(std::memory_order = std::memory_order::seq_cst, const char* file = __builtin_FILE(),
         int line = __builtin_LINE()) const noexcept {
    return loaded(value_, {file, line});
  }
  void store(T value, std::memory_order order = std::memory_order::seq_cst, const char* file = __builtin_FILE(),
             int line = __builtin_LINE()) noexcept {
    // On x86 a sequentially consistent store is an exchange.
    if (order == std::memory_order::seq_cst) {
      world::here().read_modify_write(this, {file, line});
      value_ = value;
    } else {
      world::here().store(&value_, {file, line}, &value, sizeof value);
    }
  }
  T exchange(T value, std::memory_order = std::memory_order::seq_cst, const char* file = __builtin_FILE(),
             int line = __builtin_LINE()) noexcept {
    world::here().read_modify_write(this, {file, line});
    return std::exchange(value_, value);
  }
  T fetch_add(T by, std::memory_order = std::memory_order::seq_cst, const char* file = __builtin_FILE(),
              int line = __builtin_LINE()) noexcept {
    world::here().read_modify_write(this, {file, line});
    return std::exchange(value_, static_cast<T>(value_ + by));
  }
  T fetch_sub(T by, std::memory_order = std::memory_order::seq_cst, const char* file = __builtin_FILE(),
              int line = __builtin_LINE()) noexcept {
    world::here().read_modify_write(this, {file, line});
    return std::exchange(value_, static_cast<T>(value_ - by));
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order, std::memory_order,
                               const char* file = __builtin_FILE(), int line = __builtin_LINE()) noexcept {
    world::here().read_modify_write(this, {file, line});
    if (value_ != expected) {
      expected = value_;
      return false;
    }
    value_ = desired;
    return true;
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order success, std::memory_order failure,
                             const char* file = __builtin_FILE(), int line = __builtin_LINE()) noexcept {
    return compare_exchange_strong(expected, desired, success, failure, file, line);
  }
  /// What the kernel sees: costs nothing.
  [[nodiscard]] T peek() const noexcept { return value_; }

 private:
  T value_{};
};

/// Plain memory: its lines travel like all others.
template <class T>
class cell {
 public:
  cell() noexcept = default;
  explicit cell(T value) noexcept : value_(value) {}
  [[nodiscard]] T get(const char* file = __builtin_FILE(), int line = __builtin_LINE()) const noexcept {
    return loaded(value_, {file, line});
  }
  void set(T value, const char* file = __builtin_FILE(), int line = __builtin_LINE()) noexcept {
    world::here().store(&value_, {file, line}, &value, sizeof value);
  }

 private:
  T value_{};
};

/// How a thread waits for a short_lock: as the scheduler's short_wait does, in virtual time.
class lock_wait {
 public:
  template <class Condition>
  static void until(Condition&& condition) noexcept {
    using detail::short_wait;
    // By default Linux adds up to 50 µs to nanosleep(2) (timerslack).
    constexpr picoseconds sleep = ns(short_wait::sleep + 50'000);
    for (int times = 0; !condition(); ++times) {
      if (times < short_wait::pauses) {
        world::here().pause(true);
      } else if (times < short_wait::pauses + short_wait::yields) {
        world::here().yield_call();
      } else {
        world::here().nap(sleep);
      }
    }
  }
};

/// What short_lock needs of a policy.
struct operations {
  template <class T>
  using atomic = simulate::atomic<T>;
  template <class T>
  using cell = simulate::cell<T>;

  static void fence(std::memory_order order) noexcept {
    if (order == std::memory_order::seq_cst) world::here().fence();
  }
  static void light_fence(std::memory_order order) noexcept {
    if (!world::here().fences_are_asymmetric()) fence(order);
  }
  static void heavy_fence(std::memory_order order) noexcept {
    if (world::here().fences_are_asymmetric()) {
      world::here().heavy_fence();
    } else {
      fence(order);
    }
  }
  [[nodiscard]] static void* allocate(std::size_t bytes) noexcept { return world::here().allocate(bytes, "arrays"); }
  static void deallocate(void*) noexcept {}
  static void pause() noexcept { world::here().pause(); }
  static void check(bool ok, const char* what) noexcept {
    if (!ok) detail::contract_violated(what);
  }
  [[nodiscard]] static std::uintptr_t thread_token() noexcept { return 0; }
};

/// The policy: as the scheduler's own, with its lock.
struct policy : operations {
  using mutex = basic_short_lock<lock_wait, operations>;
};

}  // namespace runq::simulate
