// SPDX-License-Identifier: MIT
// The atomics policy of the models: every operation goes to the current engine, with the line it was called from.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "engine.hpp"
#include "narrow.hpp"

namespace runq::model {

namespace detail {

template <class T>
[[nodiscard]] std::uint64_t to_bits(T value) noexcept {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <class T>
[[nodiscard]] T from_bits(std::uint64_t bits) noexcept {
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
  return value;
}
template <class T>
inline constexpr std::uint64_t mask_of = sizeof(T) == 8 ? ~0ULL : (1ULL << (8 * sizeof(T))) - 1;

/// The failure order of a compare-exchange that was called with one order.
[[nodiscard]] constexpr std::memory_order failure_order(std::memory_order order) noexcept {
  if (order == std::memory_order::acq_rel) return std::memory_order::acquire;
  return order == std::memory_order::release ? std::memory_order::relaxed : order;
}

template <class T>
inline constexpr bool never = false;

}  // namespace detail

// An operator cannot tell from which line it is called: a counterexample could not name it, nor --weaken weaken its
// order.
#define RUNQ_NO_OPERATOR(instead) \
  static_assert(detail::never<T>, "a model's atomic has no operators, which hide their lines: write " instead)

/// std::atomic as the models see it. A default-constructed one is uninitialised: reading it is reported.
template <class T>
class atomic {
 public:
  atomic() {
    at_.mask = detail::mask_of<T>;
    current_engine().atomic_init(at_, false, 0, {});
  }
  // NOLINTNEXTLINE(google-explicit-constructor): as std::atomic's
  atomic(T value, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    at_.mask = detail::mask_of<T>;
    current_engine().atomic_init(at_, true, detail::to_bits(value), {file, line});
  }
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;
  ~atomic() { current_engine().atomic_destroy(at_); }

  T load(std::memory_order order = seq_cst, const char* file = __builtin_FILE(), int line = __builtin_LINE()) const {
    const site where{file, line};
    return detail::from_bits<T>(current_engine().load(at_, effective_order(order, order_of::load, where, 0), where));
  }
  void store(T value, std::memory_order order = seq_cst, const char* file = __builtin_FILE(),
             int line = __builtin_LINE()) {
    const site where{file, line};
    current_engine().store(at_, detail::to_bits(value), effective_order(order, order_of::store, where, 0), where);
  }
  T exchange(T value, std::memory_order order = seq_cst, const char* file = __builtin_FILE(),
             int line = __builtin_LINE()) {
    return rmw(rmw_op::exchange, value, order, {file, line});
  }
  T fetch_add(T value, std::memory_order order = seq_cst, const char* file = __builtin_FILE(),
              int line = __builtin_LINE()) {
    return rmw(rmw_op::add, value, order, {file, line});
  }
  T fetch_sub(T value, std::memory_order order = seq_cst, const char* file = __builtin_FILE(),
              int line = __builtin_LINE()) {
    return rmw(rmw_op::sub, value, order, {file, line});
  }
  T fetch_and(T value, std::memory_order order = seq_cst, const char* file = __builtin_FILE(),
              int line = __builtin_LINE()) {
    return rmw(rmw_op::bit_and, value, order, {file, line});
  }
  T fetch_or(T value, std::memory_order order = seq_cst, const char* file = __builtin_FILE(),
             int line = __builtin_LINE()) {
    return rmw(rmw_op::bit_or, value, order, {file, line});
  }
  T fetch_xor(T value, std::memory_order order = seq_cst, const char* file = __builtin_FILE(),
              int line = __builtin_LINE()) {
    return rmw(rmw_op::bit_xor, value, order, {file, line});
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order success, std::memory_order failure,
                             const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return compare_exchange(expected, desired, true, success, failure, {file, line});
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order success, std::memory_order failure,
                               const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return compare_exchange(expected, desired, false, success, failure, {file, line});
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order order = seq_cst,
                             const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return compare_exchange(expected, desired, true, order, detail::failure_order(order), {file, line});
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order order = seq_cst,
                               const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return compare_exchange(expected, desired, false, order, detail::failure_order(order), {file, line});
  }

  // Operators that std::atomic has. A program that uses one does not compile, and is told what to write instead.
  operator T() const { RUNQ_NO_OPERATOR("load()"); }    // NOLINT(google-explicit-constructor)
  T operator=(T) { RUNQ_NO_OPERATOR("store(value)"); }  // NOLINT(misc-unconventional-assign-operator)
  T operator++() { RUNQ_NO_OPERATOR("fetch_add(1)"); }
  T operator++(int) { RUNQ_NO_OPERATOR("fetch_add(1)"); }
  T operator--() { RUNQ_NO_OPERATOR("fetch_sub(1)"); }
  T operator--(int) { RUNQ_NO_OPERATOR("fetch_sub(1)"); }
  T operator+=(T) { RUNQ_NO_OPERATOR("fetch_add(value)"); }
  T operator-=(T) { RUNQ_NO_OPERATOR("fetch_sub(value)"); }
  T operator&=(T) { RUNQ_NO_OPERATOR("fetch_and(value)"); }
  T operator|=(T) { RUNQ_NO_OPERATOR("fetch_or(value)"); }
  T operator^=(T) { RUNQ_NO_OPERATOR("fetch_xor(value)"); }

 private:
  static constexpr std::memory_order seq_cst = std::memory_order::seq_cst;

  T rmw(rmw_op op, T operand, std::memory_order order, site where) {
    return detail::from_bits<T>(current_engine().rmw(at_, op, detail::to_bits(operand),
                                                     effective_order(order, order_of::rmw, where, 0), where));
  }
  bool compare_exchange(T& expected, T desired, bool weak, std::memory_order success, std::memory_order failure,
                        site where) {
    std::uint64_t bits = detail::to_bits(expected);
    const bool done = current_engine().compare_exchange(
        at_, bits, detail::to_bits(desired), weak, effective_order(success, order_of::rmw, where, 0),
        effective_order(failure, order_of::cas_failure, where, 1), where);
    if (!done) expected = detail::from_bits<T>(bits);
    return done;
  }

  mutable location at_;
};

#undef RUNQ_NO_OPERATOR

/// Plain memory, checked for data races and for reads before the first write.
template <class T>
class cell {
 public:
  cell() { current_engine().cell_init(at_, false, {}); }
  explicit cell(T value, const char* file = __builtin_FILE(), int line = __builtin_LINE()) : value_(value) {
    current_engine().cell_init(at_, true, {file, line});
  }
  cell(const cell&) = delete;
  cell& operator=(const cell&) = delete;
  ~cell() { current_engine().cell_destroy(at_); }

  [[nodiscard]] T get(const char* file = __builtin_FILE(), int line = __builtin_LINE()) const {
    current_engine().cell_read(at_, detail::to_bits(value_), {file, line});
    return value_;
  }
  void set(T value, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    current_engine().cell_write(at_, detail::to_bits(value), {file, line});
    value_ = value;
  }

 private:
  mutable location at_;
  T value_{};
};

class mutex {
 public:
  mutex() { current_engine().mutex_init(at_, {}); }
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;
  ~mutex() { current_engine().mutex_destroy(at_); }
  void lock(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    current_engine().mutex_lock(at_, {file, line});
  }
  bool try_lock(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return current_engine().mutex_try_lock(at_, {file, line});
  }
  void unlock(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    current_engine().mutex_unlock(at_, {file, line});
  }

 private:
  location at_;
};

/// The policy to instantiate a queue with in a model; see runq/atomics.hpp for what each member promises.
struct atomics {
  template <class T>
  using atomic = model::atomic<T>;
  template <class T>
  using cell = model::cell<T>;
  using mutex = model::mutex;

  static void fence(std::memory_order order, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    const site where{file, line};
    current_engine().fence(effective_order(order, order_of::fence, where, 0), where);
  }
  /// The two fences of an asymmetric pair, as two fences of the language.
  static void light_fence(std::memory_order order, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    fence(order, file, line);
  }
  static void heavy_fence(std::memory_order order, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    fence(order, file, line);
  }
  static void* allocate(std::size_t bytes, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return current_engine().allocate(bytes, {file, line});
  }
  static void deallocate(void* p, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    current_engine().deallocate(p, {file, line});
  }
  static void pause(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    current_engine().pause({file, line});
  }
  static void check(bool ok, const char* what, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    if (!ok) current_engine().fail(failure::check_failed, what, {file, line});
  }
  /// 0: the threads of a model are fibers, and a scenario hands queues from its constructor to its threads.
  [[nodiscard]] static std::uintptr_t thread_token() noexcept { return 0; }
};

/// A check of a scenario's own: fails the execution with `what` and the line.
inline void require(bool ok, const char* what, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  atomics::check(ok, what, file, line);
}
/// A check that fails the execution with a failure of another kind.
inline void require(bool ok, failure kind, const char* what, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE()) {
  if (!ok) current_engine().fail(kind, what, {file, line});
}

}  // namespace runq::model
