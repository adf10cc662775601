// SPDX-License-Identifier: MIT
// The vocabulary that all queues share: what a slot may hold, what a steal returns, which thread is the owner.
#pragma once

#if __cplusplus <= 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG <= 201703L)
#error "runqkit needs C++20: compile with -std=c++20, or as your compiler calls it"
#else

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include "runq/atomics.hpp"

// RUNQ_RARELY_CALLED: for the rare part of an operation. As a function of its own it leaves the registers, and the room
// in the caller's code, to the frequent part.
// RUNQ_ON_EVERY_CALL: for the few functions that run at every call, fork and end of a coroutine, and for every task.
// g++ does not always inline them by itself, which costs a tenth of a fork. For g++ only, which lays out a coroutine's
// frame before it inlines. clang may inline before it lays out the frame. Then a variable of await_suspend() may lie in
// the frame, which another thread may destroy at that moment.
#if defined(__GNUC__)
#define RUNQ_RARELY_CALLED [[gnu::noinline, gnu::cold]]
#else
#define RUNQ_RARELY_CALLED
#endif
#if defined(__GNUC__) && !defined(__clang__)
#define RUNQ_ON_EVERY_CALL [[gnu::always_inline]]
#else
#define RUNQ_ON_EVERY_CALL
#endif

namespace runq {

template <class Queue>
class one_object;

/// Bytes between two variables that must not share a cache line. Fixed rather than
/// std::hardware_destructive_interference_size, whose value changes with compiler flags and so breaks the ABI.
#if defined(__APPLE__) && defined(__aarch64__)
inline constexpr std::size_t cache_line = 128;
#else
inline constexpr std::size_t cache_line = 64;
#endif

/// The outcome of an attempt to take an element from another thread's queue.
enum class steal_status : unsigned char {
  taken,  ///< at least one element now belongs to the caller
  empty,  ///< nothing was there; nothing changed
  lost,   ///< another thread moved first; nothing changed, and another try may succeed
};

/// The result of a steal. `value` is the element to run now, and `T{}` unless `status` is `taken`; `count` says how
/// many elements left the victim, `value` among them, and is 0 unless `status` is `taken`.
template <class T>
struct steal_result {
  steal_status status = steal_status::empty;
  T value{};
  std::size_t count = 0;

  [[nodiscard]] explicit operator bool() const noexcept { return status == steal_status::taken; }

  /// The element, or `otherwise` if nothing was taken.
  [[nodiscard]] T value_or(T otherwise) const noexcept { return *this ? value : otherwise; }

  /// The element, or a null pointer if nothing was taken: for a caller that never queues a null pointer.
  // NOLINTNEXTLINE(google-explicit-constructor): `return thief.steal();` in a function that returns a pointer.
  [[nodiscard]] operator T() const noexcept requires std::is_pointer_v<T> { return value; }
};

/// The result of a steal into the caller's memory: `count` elements of it are the caller's now, 0 unless `status` is
/// `taken`.
struct batch_result {
  steal_status status = steal_status::empty;
  std::size_t count = 0;

  [[nodiscard]] explicit operator bool() const noexcept { return status == steal_status::taken; }
};

/// What gives one queue its memory: a std::pmr::memory_resource, or a type of yours with the same two functions. An
/// allocate() that throws or returns nullptr means that there is no memory. The source must outlive the queue.
template <class S>
concept memory_source = requires(S& source, void* memory, std::size_t bytes, std::size_t alignment) {
  { source.allocate(bytes, alignment) } -> std::convertible_to<void*>;
  source.deallocate(memory, bytes, alignment);
};

namespace detail {

// The memory of one queue: from the source that the queue's constructor was given, otherwise from the policy.
template <class Atomics>
class queue_memory {
 public:
  queue_memory() noexcept = default;
  template <memory_source S>
  explicit queue_memory(S& source) noexcept : source_(std::addressof(source)), calls_(&calls_of<S>) {}

  // Memory aligned for any fundamental type, or nullptr.
  [[nodiscard]] void* allocate(std::size_t bytes) const noexcept {
    return calls_ == nullptr ? Atomics::allocate(bytes) : calls_->allocate(source_, bytes);
  }
  void deallocate(void* memory, std::size_t bytes) const noexcept {
    if (calls_ == nullptr) {
      Atomics::deallocate(memory);
    } else {
      calls_->deallocate(source_, memory, bytes);
    }
  }

 private:
  struct calls {
    void* (*allocate)(void* source, std::size_t bytes) noexcept;
    void (*deallocate)(void* source, void* memory, std::size_t bytes) noexcept;
  };
  template <class S>
  static void* allocate_from(void* source, std::size_t bytes) noexcept {
#ifdef __cpp_exceptions
    try {
      return static_cast<S*>(source)->allocate(bytes, alignof(std::max_align_t));
    } catch (...) {
      return nullptr;
    }
#else
    return static_cast<S*>(source)->allocate(bytes, alignof(std::max_align_t));
#endif
  }
  template <class S>
  static void deallocate_to(void* source, void* memory, std::size_t bytes) noexcept {
    static_cast<S*>(source)->deallocate(memory, bytes, alignof(std::max_align_t));
  }
  template <class S>
  static constexpr calls calls_of{&allocate_from<S>, &deallocate_to<S>};

  void* source_ = nullptr;
  const calls* calls_ = nullptr;
};

// A thief reads a slot before it knows whether it wins the race for it, so slots are relaxed atomics. They must be
// lock-free, which asks for a trivially copyable type.
template <class T>
inline constexpr bool is_slot_value = [] {
  constexpr bool complete = requires { sizeof(T); };
  static_assert(complete, "runq: a queue element must be of a complete type; a pointer to an incomplete type is one");
  if constexpr (complete) {
    static_assert(std::is_trivially_copyable_v<T>,
                  "runq: a queue element must be trivially copyable (a pointer or a small integer); "
                  "to queue something larger, queue a pointer to it");
    if constexpr (std::is_trivially_copyable_v<T>) {
      static_assert(std::atomic<T>::is_always_lock_free,
                    "runq: a queue element must fit a lock-free std::atomic (at most the size of a pointer)");
      static_assert(std::is_default_constructible_v<T>, "runq: a queue element must be default constructible");
    }
  }
  return true;
}();

// `value` as a To, or the largest To where it does not fit. Both unsigned.
template <class To, class From>
[[nodiscard]] constexpr To saturated(From value) noexcept {
  if constexpr (std::numeric_limits<From>::digits > std::numeric_limits<To>::digits) {
    return static_cast<To>(value < std::numeric_limits<To>::max() ? value : std::numeric_limits<To>::max());
  } else {
    return static_cast<To>(value);
  }
}

template <class Atomics>
inline constexpr bool counts_owners = true;
template <class Atomics>
inline constexpr bool counts_owners<unchecked_owner<Atomics>> = false;

// Owner only: whether an owner handle of a queue exists. With unchecked_owner nobody asks, and nothing is stored.
template <class Atomics>
class owner_flag {
 public:
  void set(const char* what) noexcept {
    if constexpr (counts_owners<Atomics>) {
      Atomics::check(!exists_.get(), what);
      exists_.set(true);
    }
  }
  void clear() noexcept {
    if constexpr (counts_owners<Atomics>) exists_.set(false);
  }

 private:
  typename Atomics::template cell<bool> exists_{false};
};

// Binds an owner handle to the first thread that uses it and stops a debug build when a second one does.
// Every move of the handle is a hand-over: the next thread to use it becomes the owner.
template <class Atomics>
class owner_guard {
 public:
  owner_guard() noexcept = default;
  owner_guard(owner_guard&&) noexcept {}
  owner_guard& operator=(owner_guard&&) noexcept {
    rebind();
    return *this;
  }

  void check(const char* what) noexcept {
    const std::uintptr_t me = Atomics::thread_token();
    if (me == 0) return;
    // [owner_guard.bound] relaxed, unmodelled: only equality is asked, and the guard orders nothing. Two threads that
    // call check() at the same moment may both pass.
    const std::uintptr_t bound = thread_.load(std::memory_order::relaxed);
    if (bound == 0) {
      // [owner_guard.bind] relaxed, unmodelled: only equality is asked, and the guard orders nothing.
      thread_.store(me, std::memory_order::relaxed);
    } else {
      Atomics::check(bound == me, what);
    }
  }

  void rebind() noexcept {
    // [owner_guard.rebind] relaxed, unmodelled: the hand-over itself orders the two owners.
    thread_.store(0, std::memory_order::relaxed);
  }

 private:
  std::atomic<std::uintptr_t> thread_{0};
};

// What the owner handles of a queue say when they are misused.
struct owner_misuse {
  const char* second_owner;
  const char* moved_from;
  const char* second_thread;
};

// What the owner handles of all queues share: the queue, and who uses the handle. Move-only; a moved-from handle owns
// nothing. In debug builds a second handle, a moved-from one, and a second thread end the program.
template <class Queue, class Atomics>
class owner_handle {
 public:
  owner_handle(owner_handle&& other) noexcept
      : queue_(std::exchange(other.queue_, nullptr)), guard_(std::move(other.guard_)) {}
  owner_handle& operator=(owner_handle&& other) noexcept {
    if (this != &other) {
      release();
      queue_ = std::exchange(other.queue_, nullptr);
      guard_ = std::move(other.guard_);
    }
    return *this;
  }
  owner_handle(const owner_handle&) = delete;
  owner_handle& operator=(const owner_handle&) = delete;

  /// Makes the next thread that uses this handle its owner, as a move would. The hand-over must happen-before that use.
  void rebind() noexcept { guard_.rebind(); }

 protected:
  explicit owner_handle(Queue& queue) noexcept : queue_(&queue) { queue.owned_.set(Queue::misuse.second_owner); }
  ~owner_handle() { release(); }

  // The queue, for what any thread may ask.
  [[nodiscard]] Queue& queue() const noexcept {
    Atomics::check(queue_ != nullptr, Queue::misuse.moved_from);
    return *queue_;
  }
  // The queue, for an operation of the owner, which begins with this call.
  [[nodiscard]] Queue& enter() noexcept {
    Queue& mine = queue();
    guard_.check(Queue::misuse.second_thread);
    return mine;
  }

 private:
  void release() noexcept {
    if (queue_ != nullptr) queue_->owned_.clear();
  }

  Queue* queue_;
  owner_guard<Atomics> guard_;
};

}  // namespace detail

}  // namespace runq

#endif  // C++20
